#include "engines/compose/redlock/node.hpp"

#include <chrono>
#include <new>
#include <thread>
#include <utility>

namespace tyer::redlock {

namespace {

constexpr std::chrono::milliseconds a_while{10};  // pause until there may be memory again

}  // namespace

node::~node() { stop(); }

void node::start(listener& l, std::shared_ptr<engine::inbox> to) {
  listener_ = &l;
  to_ = std::move(to);
  thread_ = std::thread{[this] { serve(); }};
}

void node::post(task o) {
  bool first = false;
  {
    const std::lock_guard lock{mutex_};
    first = tasks_.empty();
    tasks_.push_back(std::move(o));
  }
  if (first) engine_->wake();  // else it was woken already, and the thread takes all tasks
}

void node::ask_to_stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);
  engine_->wake();
}

void node::stop() {
  ask_to_stop();
  if (thread_.joinable()) thread_.join();
}

// Running out of memory here loses one request or one event: the others go on.
template <class F>
bool node::survives(F what) noexcept {
  try {
    what();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void node::serve() noexcept {
  while (!stopping_.load(std::memory_order_seq_cst) && !survives([this] { engine_->open(*this); })) rest();
  while (!stopping_.load(std::memory_order_seq_cst)) {
    carry_out_orders();
    tell_what_was_missed();
    const auto until = missed_ == nothing ? engine::time_point::max() : clock_.now() + a_while;
    if (!survives([&] { engine_->run(until); })) rest();
  }
  carry_out_orders();
  survives([this] { finish(); });
}

void node::rest() noexcept { std::this_thread::sleep_for(a_while); }

// A task that runs out of memory is dropped with its reply: as if the server had not answered.
void node::carry_out_orders() noexcept {
  {
    const std::lock_guard lock{mutex_};
    working_.swap(tasks_);
  }
  for (task& o : working_) {
    survives([&] { o(*engine_); });
  }
  working_.clear();
}

// The state of the server must be reported in the end: so up or down is sent again, without a message.
void node::tell_what_was_missed() noexcept {
  if (missed_ == is_up) up({});
  if (missed_ == is_down) down({});
}

void node::up(const engine::server_facts& facts) {
  const bool told =
      survives([&] { tell([i = index_, facts, at = clock_.now()](listener& l) { l.on_up(i, facts, at); }); });
  missed_ = told ? nothing : is_up;
}

void node::down(const engine::failure& f) {
  missed_ = survives([&] { tell([i = index_, f](listener& l) { l.on_down(i, f); }); }) ? nothing : is_down;
}

// Only hints: the next renewal finds out what has happened.
void node::suspect(const engine::id& who) {
  survives([&] { tell([i = index_, who](listener& l) { l.on_suspect(i, who); }); });
}

void node::asked(const engine::id& who, std::string_view reason) {
  survives([&] { tell([i = index_, who, reason = std::string{reason}](listener& l) { l.on_asked(i, who, reason); }); });
}

// Sends the pending requests and delivers their answers, if the server is reachable.
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
