#include "contract/duties/silence.hpp"

#include "core/uri.hpp"

#include <exception>

namespace tyer::contract {

silence::silence() {
  if (server_.there()) {
    server_.pause();
    return;
  }
  store_ = memory::named_store(core::parse_uri(::contract::engine_uri()).value.hosts.front().host, clock_);
  store_->pause();
}

silence::~silence() {
  try {
    end();
  } catch (const std::exception&) {
    // The tests behind this one will say so.
  }
}

void silence::end() {
  if (over_) return;
  over_ = true;
  store_ ? store_->resume() : server_.resume();
}

}  // namespace tyer::contract
