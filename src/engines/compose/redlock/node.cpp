#include "engines/compose/redlock/node.hpp"

#include <chrono>
#include <utility>

namespace tyer::redlock {

namespace {

constexpr std::chrono::milliseconds close_limit{150};  // what the runtime waits for a close is a little more

}  // namespace

node::~node() { stop(); }

void node::start(listener& l, std::shared_ptr<engine::inbox> to) {
  listener_ = &l;
  to_ = std::move(to);
  thread_ = std::thread{[this] { serve(); }};
}

void node::post(order o) {
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = orders_.empty();
    orders_.push_back(std::move(o));
  }
  if (first) engine_->wake();  // else somebody has, and the thread takes all there is
}

void node::ask_to_stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  engine_->wake();
}

void node::stop() {
  ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

void node::serve() {
  engine_->open(*this);
  while (!stopping_.load(std::memory_order_seq_cst)) {
    carry_out_orders();
    engine_->run(engine::time_point::max());
  }
  carry_out_orders();
  finish();
}

void node::carry_out_orders() {
  {
    const std::lock_guard lock{mutex_};
    working_.swap(orders_);
  }
  for (order& o : working_) o(*engine_);
  working_.clear();
}

// What was asked for is sent, and answered if the server is there.
void node::finish() {
  bool closed = false;
  engine_->close([&closed](engine::outcome<engine::done>&&) { closed = true; });
  const auto until = clock_.now() + close_limit;
  while (!closed && clock_.now() < until) {
    engine_->run(until);
    if (!clock_.flows()) break;
  }
}

}  // namespace tyer::redlock
