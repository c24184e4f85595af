// The engine behind memory://NAME: locks between the clients of one process.
#pragma once

#include "engines/kit/engine_base.hpp"
#include "engines/memory/store.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::memory {

using engine::failure;
using engine::finding;
using engine::kept;
using engine::page;
using engine::target;
using engine::why;
using kit::call_ptr;

// The store does the work at once, and the next run() delivers the answers. While the store is paused, calls time out, on
// the clock of the environment; code that moves a clock by hand must also call wake().
class memory_engine final : public kit::engine_base {
 public:
  memory_engine(std::shared_ptr<store>, const tyer::engine::environment&);
  ~memory_engine() override;

  tyer::engine::capabilities can() const noexcept override;

 private:
  void do_open() override;
  void do_acquire(const request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const target>, fate as, milliseconds ttl, const call_ptr<kept>&) override;
  void do_release(const target&, bool clean, const call_ptr<fate>&) override;
  void do_convert(const target&, mode to, milliseconds not_after, const call_ptr<answer>&) override;
  void do_lift(const target&, std::uint64_t part, const call_ptr<fate>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit, const call_ptr<page>&) override;
  void do_watch(std::string_view name, bool on) override;
  void do_diagnose(const call_ptr<std::vector<finding>>&) override;
  void do_close() override { store_->leave(*box()); }

  // Has `work` done by the store: a function from a visit to result<T>.
  template <class T, class F>
  void submit(const call_ptr<T>&, std::string name, F work);
  std::string full(std::string_view name) const;

  const std::shared_ptr<store> store_;
};

}  // namespace tyer::memory
