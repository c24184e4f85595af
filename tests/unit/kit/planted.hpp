// Which bug is planted in the resource of kit_planted_test (plant.cmake).
#pragma once

namespace tyer::kit {

inline int planted = 0;  // 0: none
inline bool has_bug(int number) { return planted == number; }

}  // namespace tyer::kit
