#include "engines/mysql/asio_box.hpp"

#include <chrono>

namespace tyer::mysql {

std::vector<engine::delivery> asio_box::take(deadline until) {
  inside_->context.serve(until);
  return inbox::take(std::chrono::steady_clock::time_point{});
}

}  // namespace tyer::mysql
