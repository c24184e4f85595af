// Asynchronous calls for tests, without Asio.
#pragma once

#include <tyer/detail/async.hpp>
#include <tyer/tyer.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <utility>

namespace tyer::testing_api {

using namespace std::chrono_literals;

struct answer {
  failure why;
  hold got;
};

struct later {
  std::future<answer> done;
  std::shared_ptr<detail::pending_call> handle;

  bool is_there() const { return done.wait_for(0s) == std::future_status::ready; }
  answer get() {
    if (done.wait_for(10s) != std::future_status::ready) throw std::runtime_error("no answer came");
    return done.get();
  }
};

inline later acquire_later(const acquirable& m, detail::acquire_terms terms = {}) {
  struct handler final : detail::acquire_handler {
    void done(failure f, hold h) override { promise.set_value({std::move(f), std::move(h)}); }
    std::promise<answer> promise;
  };
  auto h = std::make_unique<handler>();
  auto future = h->promise.get_future();
  auto handle = detail::start_acquire(m, terms, std::move(h));
  return {std::move(future), std::move(handle)};
}

template <class T>
T within_reason(std::future<T> f) {
  if (f.wait_for(10s) != std::future_status::ready) throw std::runtime_error("no answer came");
  return f.get();
}

}  // namespace tyer::testing_api
