// Which bug is planted in the resource of kit_planted_test (plant.cmake).
#pragma once

namespace tyer::kit {

inline int planted = 0;  // 0: none

}  // namespace tyer::kit
