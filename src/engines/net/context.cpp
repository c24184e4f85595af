#include "engines/net/context.hpp"

#include <tyer/error.hpp>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

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

void context::wake() noexcept {
  if (woken_.exchange(true)) return;
  try {
    boost::asio::post(*this, [] {});
  } catch (...) {  // no memory: whoever waits returns with the next event
  }
}

}  // namespace tyer::net
