// The loop that serves all connections of one engine.
//
// A turn sends what was collected, waits until a member has something to deliver, and lets each deliver: with no handler of
// Asio on the stack, so that callbacks may do anything.
//
// Thread safety: one thread at a time; wake() from any. No Boost in this header.
#pragma once

#include "core/clock.hpp"
#include "engine/engine.hpp"

#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace tyer::redis {

class loop {
 public:
  using time_point = engine::time_point;

  // A connection, or something else with timers of its own.
  class member {
   public:
    virtual void flush() = 0;                     // sends what was collected
    virtual void tick(time_point) = 0;            // handles its timers
    virtual time_point due() const = 0;           // the next of them
    virtual bool ready() const = 0;               // there is something to deliver
    virtual void drain() = 0;                     // after I/O
    virtual void deliver() = 0;                   // may call back
    virtual void broken(const std::string&) = 0;  // it threw, or the I/O of some member threw

   protected:
    ~member() = default;
  };

  // Something that has nothing but timers.
  class timer : public member {
    void flush() final {}
    bool ready() const final { return false; }
    void drain() final {}
    void deliver() final {}
    void broken(const std::string&) final {}

   protected:
    ~timer() = default;
  };

  explicit loop(const core::clock&);
  ~loop();

  // At any time, also while members deliver.
  void join(member&);
  void leave(member&);

  void run(time_point until);
  void wake() noexcept;

  // Runs pending I/O without waiting, for a member that has much to deliver.
  void serve();

  boost::asio::io_context& context() noexcept;

 private:
  class body;
  std::unique_ptr<body> body_;
};

}  // namespace tyer::redis
