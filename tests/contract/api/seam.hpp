// A look past the public API at what the engine has: the same seam that every engine offers, on a connection of its own.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "engine/engine.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contract {

// What the engine behind this URI can do. No I/O.
tyer::engine::capabilities engine_can(std::string_view uri);

class seam {
 public:
  explicit seam(std::string_view uri);
  ~seam();
  seam(seam&&) noexcept;

  std::vector<tyer::engine::entry> entries(std::string_view name);
  std::vector<tyer::engine::entry> holding(std::string_view name);
  std::vector<tyer::engine::entry> waiting(std::string_view name);

  // Breaks that hold, as an operator would. Tells what it was.
  tyer::engine::fate evict(const tyer::engine::entry& e);

 private:
  struct inside;
  std::unique_ptr<inside> inside_;
};

}  // namespace contract
