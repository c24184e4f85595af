// The inside of the loop: I/O of all channels, timers, and what is to be told to whom.
//
// Whoever touches anything of it has a `turn`. The thread in run() has it while it waits for I/O, and gives it away when another
// wants it. What is told is told without it.
#pragma once

#include "engines/etcd/wire/wire.hpp"
#include "engines/net/context.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace tyer::etcd::wire {

using time_point = lease_clock::time_point;

// Somebody to be told something; linked, so that it takes no memory to be so.
class delivery {
 public:
  explicit delivery(told w) : where_(w) {}
  virtual ~delivery() = default;
  virtual void deliver() = 0;        // without a turn
  virtual void forget() noexcept {}  // instead, when nobody is told any more: lets go of who would have been

 private:
  friend class loop_line;
  friend class loop::body;
  const told where_;
  bool in_line_ = false;
  std::shared_ptr<delivery> next_;
};

class loop_line {
 public:
  bool empty() const { return first_ == nullptr; }
  void push(std::shared_ptr<delivery>) noexcept;
  std::shared_ptr<delivery> pop() noexcept;
  void clear() noexcept;

 private:
  std::shared_ptr<delivery> first_;
  delivery* last_ = nullptr;
};

class loop::body {
 public:
  explicit body(const core::clock&);
  ~body();

  bool run(time_point until);
  void wake() noexcept { context_.wake(); }
  void end();  // nobody is told any more

  time_point now() const { return clock_.now(); }
  boost::asio::io_context& context() { return context_; }

  // With a turn.
  void join(channel& c);
  void leave(channel&);
  void push(std::shared_ptr<delivery>) noexcept;
  void begins(told where);
  void ends(told where) { anywhere_ -= where == told::anywhere ? 1 : 0; }

  void after(std::chrono::nanoseconds, std::function<void()>);

 private:
  friend class turn;

  void give_way();
  bool has_news() const { return !in_run_.empty() || !anywhere_line_.empty(); }
  template <class Call>
  void each(Call call);
  void flush(time_point);
  void tick(time_point);
  void see_to_time(time_point);
  void send_now();
  void serve(lease_clock::duration limit);
  time_point channels_due() const;
  time_point due();
  void take_due_timers(time_point);
  bool deliver(loop_line&);

  // --- the thread that stands in ---
  void start_standing_in();
  void stand_in();
  time_point look_at() const;
  bool drive_while_nobody_does();

  const core::clock& clock_;
  std::recursive_mutex turn_;
  std::mutex next_;             // of whoever waits for a turn; never with the turn
  std::atomic<int> wanted_{0};  // how many wait for a turn
  std::atomic<bool> ended_{false};
  net::context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::vector<channel*> channels_;  // null: has left
  loop_line in_run_, anywhere_line_;
  std::atomic<int> anywhere_{0};  // calls under way that may be told anywhere
  time_point left_at_{};

  std::mutex timers_mutex_;
  std::condition_variable timers_changed_;
  std::multimap<time_point, std::shared_ptr<delivery>> timers_;
  time_point attend_at_{};  // while calls are under way that may be told anywhere: whoever runs would be at it by then
  std::thread stands_in_;
};

// While it lives, nobody else touches anything of the loop.
class loop::turn {
 public:
  explicit turn(body& b);
  turn(const turn&) = delete;
  ~turn() { body_.turn_.unlock(); }

 private:
  body& body_;
};

}  // namespace tyer::etcd::wire
