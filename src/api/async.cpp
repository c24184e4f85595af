#include "api/access.hpp"

#include <tyer/detail/async.hpp>

#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

// The caller's handle on a wish, which owns it: a wish that found no memory on its way is gone, and the handle with it.
class wish_handle final : public pending_acquire {
 public:
  wish_handle(std::shared_ptr<runtime::house> home, std::weak_ptr<runtime::wish> w)
      : home_(std::move(home)), wish_(std::move(w)) {}
  void cancel() override {
    if (auto w = wish_.lock()) home_->cancel(std::move(w), errc::cancelled);
  }

 private:
  std::shared_ptr<runtime::house> home_;
  std::weak_ptr<runtime::wish> wish_;
};

primitives::patience patience_of(const acquire_terms& terms) {
  if (!terms.waits) return primitives::patience::once();
  return terms.at_most ? primitives::patience::within(*terms.at_most) : primitives::patience::for_ever();
}

}  // namespace

std::shared_ptr<pending_acquire> start_acquire(const acquirable& m, const acquire_terms& terms,
                                               std::unique_ptr<acquire_handler> handler) {
  const auto& s = *access::state(m);
  if (auto f = primitives::unusable(*s.home, false)) {
    handler->done(std::move(f), {});
    return nullptr;
  }
  auto w = primitives::make_wish(*s.home, s.what, patience_of(terms), terms.where);
  auto handle = std::make_shared<wish_handle>(s.home, w);
  // The handle lives as long as the wish, so that a cancellation slot need not own it.
  w->done = [home = std::weak_ptr{s.home}, handle, handler = std::move(handler)](failure f,
                                                                                 runtime::hold_ptr h) mutable {
    handler->done(std::move(f), access::make_hold(home.lock(), std::move(h)));
    handle.reset();
  };
  s.home->want(std::move(w));
  return handle;
}

void start_release(hold h, std::unique_ptr<release_handler> handler) {
  auto s = access::take(h);
  const auto home = s ? s->home.lock() : nullptr;
  if (!s) return handler->done(errc::not_held, release_outcome::already_gone);
  if (!home || home->closed()) return handler->done({}, release_outcome::already_gone);
  if (home->forked()) return handler->done(errc::forked, release_outcome::unknown);
  home->give_back(std::move(s), [handler = std::move(handler)](failure f, release_outcome o) mutable {
    handler->done(std::move(f), o);
  });
}

executor default_executor(const acquirable& m) {
  return [home = access::state(m)->home](std::function<void()> f) { home->complete(std::move(f)); };
}

executor default_executor(const hold& h) {
  const auto& s = access::state(h);
  auto home = s ? s->home.lock() : nullptr;
  if (!home) return [](std::function<void()> f) { std::thread{std::move(f)}.detach(); };
  return [home](std::function<void()> f) { home->complete(std::move(f)); };
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
