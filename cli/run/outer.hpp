// The `tyer run` in whose command this one runs. What is inside one another waits as one: the outer holds while the inner waits.
//
//   TYER_INSIDE=6958:787dad3b235c850b6628ff97119219b000,…   the process of the outermost, and all their holds
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct outer {
  std::uint64_t process = 0;  // 0: there is none
  std::vector<std::string> holds;

  bool has(const std::string& hold) const;
};

// From the environment. What cannot be read is as if it were not there.
outer read_outer();

// The same for what runs inside this process, under that hold.
std::string with_hold(const outer& around, std::uint64_t process, const std::string& hold);

}  // namespace cli
