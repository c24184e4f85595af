#include "engines/mysql/idle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <utility>

namespace tyer::mysql {

namespace {

constexpr std::chrono::milliseconds rest_time{250};

}  // namespace

void idle::start(int socket, std::weak_ptr<void> keeps) {
  const int copy = socket >= 0 ? ::fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1;
  if (copy < 0) return;
  keeps_ = std::move(keeps);
  boost::system::error_code e;
  copy_.assign(copy, e);
  if (e) ::close(copy);
  used();
}

void idle::used() {
  used_ = true;
  if (std::exchange(looking_, false)) copy_.cancel();
  if (!resting_ && copy_.is_open()) rest();
}

void idle::stop() noexcept try {
  timer_.cancel();
  boost::system::error_code e;
  copy_.close(e);
} catch (...) {  // Asio's own signature: it does not throw
}

void idle::rest() {
  resting_ = true;
  used_ = false;
  timer_.expires_after(rest_time);
  timer_.async_wait([this, me = keeps_.lock()](const boost::system::error_code& e) {
    if (e || !copy_.is_open()) return;
    resting_ = false;
    used_ || busy_() ? rest() : look();
  });
}

void idle::look() {
  looking_ = true;
  copy_.async_wait(boost::asio::posix::descriptor_base::wait_read,
                   [this, me = keeps_.lock()](const boost::system::error_code& e) {
                     if (e || !copy_.is_open() || !std::exchange(looking_, false)) return;
                     readable_();
                   });
}

}  // namespace tyer::mysql
