#include "engines/redis/connection/loop.hpp"

#include "engines/net/context.hpp"
#include "engines/redis/connection/limits.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace tyer::redis {

namespace asio = boost::asio;
using std::chrono::milliseconds;

class loop::body {
 public:
  explicit body(const core::clock& c) : clock_(&c), work_(context_.get_executor()) { stand_in_front(); }

  void join(member& m) { members_.push_back(&m); }
  void leave(member& m) { std::replace(members_.begin(), members_.end(), &m, static_cast<member*>(nullptr)); }

  void run(time_point until);
  void serve(lease_clock::duration);
  void wake() noexcept { context_.wake(); }

  asio::io_context& context() noexcept { return context_; }

 private:
  // Members may join and leave while each is called. One that runs out of memory is reset with broken(); the others go on.
  template <class Call>
  void each(Call call) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i] == nullptr) continue;
      try {
        call(*members_[i]);
      } catch (const std::bad_alloc&) {
        if (members_[i] != nullptr) members_[i]->broken(short_of_memory);
      }
    }
  }
  bool ready() const {
    return std::any_of(members_.begin(), members_.end(), [](const member* m) { return m != nullptr && m->ready(); });
  }
  time_point due() const {
    auto t = time_point::max();
    for (const member* m : members_) {
      if (m != nullptr) t = std::min(t, m->due());
    }
    return t;
  }

  // Boost.Redis waits for work on a timer that never expires. If it were the first of all timers, each wait would cost a
  // call of timerfd_settime(); with an earlier timer in front of it, none does.
  void stand_in_front() {
    front_.expires_after(std::chrono::hours{1});
    front_.async_wait([this](const boost::system::error_code& e) {
      if (!e) stand_in_front();
    });
  }

  const std::string short_of_memory = "out of memory";

  // If the loop has not run for this long (the process may have been stopped), it reads what has arrived before it times
  // anything out.
  static constexpr milliseconds absent_for{100};

  const core::clock* clock_;
  time_point left_at_{};
  std::vector<member*> members_;  // null: has left
  net::context context_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer front_{context_};
};

void loop::body::run(time_point until) {
  each([](member& m) { m.flush(); });
  const bool flows = clock_->flows();
  if (clock_->now() - left_at_ > absent_for) serve({});
  if (!flows) until = time_point::max();
  for (;;) {
    const auto t = clock_->now();
    each([t](member& m) { m.tick(t); });
    if (ready() || context_.woken() || t >= until) {
      serve({});
      break;
    }
    serve(flows ? std::min(until, due()) - t : lease_clock::duration{milliseconds{50}});
    if (ready()) break;
  }
  each([](member& m) { m.deliver(); });
  context_.returned();
  std::erase(members_, nullptr);
  left_at_ = clock_->now();
}

void loop::body::serve(lease_clock::duration limit) {
  try {
    if (limit <= lease_clock::duration::zero()) {
      context_.poll();
    } else {
      context_.run_one_for(limit);
    }
  } catch (const std::bad_alloc&) {
    each([this](member& m) { m.broken(short_of_memory); });
  } catch (const std::length_error&) {  // a read buffer's limit; it is not known which
    each([words = "a reply is larger than " + std::to_string(read_bytes_max >> 20) + " MiB"](member& m) {
      m.broken(words);
    });
  } catch (const std::exception& e) {
    each([words = std::string{e.what()}](member& m) { m.broken(words); });
  }
  each([](member& m) { m.drain(); });
}

loop::loop(const core::clock& c) : body_(std::make_unique<body>(c)) {}

loop::~loop() = default;

void loop::join(member& m) { body_->join(m); }
void loop::leave(member& m) { body_->leave(m); }
void loop::run(time_point until) { body_->run(until); }
void loop::wake() noexcept { body_->wake(); }
void loop::serve() { body_->serve({}); }
asio::io_context& loop::context() noexcept { return body_->context(); }

}  // namespace tyer::redis
