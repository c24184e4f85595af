#include "engines/net/context.hpp"

#include <tyer/error.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>
#include <system_error>

namespace tyer::net {

context::context() : io_context(1) {
  try {
    const boost::asio::steady_timer needs_them{*this};
  } catch (const boost::system::system_error& e) {
    throw error({std::error_code{e.code()}, "the engine cannot be set up in this process: " + e.code().message()});
  }
}

void context::serve(const deadline& until, const std::function<bool()>& enough) {
  using std::chrono::steady_clock;
  constexpr auto at_a_time = std::chrono::hours{1};
  poll();
  while (!woken_ && !enough()) {
    const auto now = steady_clock::now();
    if (until && now >= *until) break;
    run_one_for(until ? std::min<steady_clock::duration>(*until - now, at_a_time) : at_a_time);
  }
  returned();
}

void context::wake() noexcept {
  if (woken_.exchange(true)) return;
  try {
    boost::asio::post(*this, [] {});
  } catch (...) {  // no memory: whoever waits returns with the next event
  }
}

}  // namespace tyer::net
