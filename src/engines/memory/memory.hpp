// The engine behind memory://NAME: locks between the clients of one process.
#pragma once

#include "engine/engine.hpp"
#include "engine/environment.hpp"
#include "engine/inbox.hpp"
#include "engines/memory/store.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::memory {

using engine::capabilities;
using engine::done;
using engine::environment;
using engine::events;
using engine::failure;
using engine::finding;
using engine::kept;
using engine::page;
using engine::reply;
using engine::target;
using engine::why;

// Work is done in the store at once, answers are delivered by the next run(). While the store is paused a call is
// answered by its time-out, on the clock of the environment; whoever moves a clock that stands still must wake() too.
class memory_engine final : public engine::engine {
 public:
  memory_engine(std::shared_ptr<store>, const environment&);
  ~memory_engine() override;

  capabilities can() const noexcept override;
  void open(events&) override;

  void acquire(const request&, reply<answer>) override;
  void keep(std::span<const target>, fate as, milliseconds ttl, reply<kept>) override;
  void release(const target&, bool clean, reply<fate>) override;
  void convert(const target&, mode to, milliseconds not_after, reply<answer>) override;
  void lift(const target&, std::uint64_t part, reply<fate>) override;
  void ask(std::string_view name, std::string_view reason, reply<std::uint32_t>) override;
  void evict(const target&, std::string_view reason, reply<fate>) override;
  void show(std::string_view name, reply<page>) override;
  void list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, reply<page>) override;
  void watch(std::string_view name, bool on) override;
  void diagnose(reply<std::vector<finding>>) override;
  void close(reply<done>) override;

  void run(time_point until) override;
  void wake() noexcept override { inbox_->wake(); }

 private:
  struct call;
  template <class T>
  struct call_of;

  // Has `work` done by the store: a function from a visit to result<T>.
  template <class T, class F>
  void submit(std::string name, reply<T>, F work);

  std::string full(std::string_view name) const;
  time_point due(const call&) const;
  void give_up_overdue();
  void finish_close();
  inbox::deadline waiting_until(time_point until) const;

  const std::shared_ptr<store> store_;
  const std::shared_ptr<inbox> inbox_ = std::make_shared<inbox>();
  const environment environment_;
  events* events_ = nullptr;
  std::deque<std::shared_ptr<call>> calls_;  // in the order they were made, so also in the order they fall due
  reply<done> closing_;
  bool closed_ = false;
};

// For tests: an engine on a store of their own.
std::unique_ptr<engine::engine> make_engine(std::shared_ptr<store>, const environment&);

}  // namespace tyer::memory
