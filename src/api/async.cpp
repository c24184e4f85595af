#include "api/access.hpp"
#include "api/calling.hpp"
#include "api/converting.hpp"
#include "core/for_ever.hpp"
#include "runtime/late_line.hpp"

#include <tyer/detail/async.hpp>

#include <atomic>
#include <new>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

// The caller's handle to a call that it may cancel. The call owns the handle: if the call is dropped because memory is
// exhausted, the handle goes with it.
class revocable_handle final : public pending_call {
 public:
  revocable_handle(std::shared_ptr<runtime::client_runtime> home, std::weak_ptr<runtime::revocable> r)
      : home_(std::move(home)), what_(std::move(r)) {}
  void cancel() override {
    if (home_->forked()) return;  // nothing of it may be touched
    if (auto r = what_.lock()) home_->cancel(std::move(r), errc::cancelled);
  }

 private:
  std::shared_ptr<runtime::client_runtime> home_;
  std::weak_ptr<runtime::revocable> what_;
};

// For a call that goes on when its caller stops waiting. The handler goes to whichever comes first: the answer or the
// cancellation.
template <class Answer, Answer Unknown>
class lasting_call final : public pending_call {
 public:
  explicit lasting_call(answer_ptr<Answer> h) : handler_(std::move(h)) {}
  void answer(failure f, Answer a) {
    if (!told_.exchange(true)) handler_.release()->finish(std::move(f), a);
  }
  void cancel() override { answer(errc::cancelled, Unknown); }

 private:
  std::atomic<bool> told_{false};
  answer_ptr<Answer> handler_;
};
using release_call = lasting_call<release_outcome, release_outcome::unknown>;
using confirm_call = lasting_call<bool, false>;

}  // namespace

pending start_acquire(const acquirable& m, const acquire_terms& terms, answer_ptr<hold> handler) {
  const auto& s = *access::state(m);
  if (auto f = primitives::unusable(*s.home, false)) {
    handler.release()->finish(std::move(f), {});
    return nullptr;
  }
  auto w = primitives::make_acquisition(*s.home, s.what, patience_of(terms), terms.where);
  auto handle = std::make_shared<revocable_handle>(s.home, w);
  // The handle lives as long as the acquisition, so that a cancellation slot need not own it.
  w->done = [home = std::weak_ptr{s.home}, handle, handler = std::move(handler)](failure f,
                                                                                 runtime::hold_ptr h) mutable {
    handler.release()->finish(std::move(f), access::make_hold(home.lock(), std::move(h)));
    handle.reset();
  };
  s.home->want(std::move(w));
  return handle;
}

pending start_upgrade(const acquirable& m, const held_ptr& h, const acquire_terms& terms, answer_ptr<bool> handler) {
  const auto& to = *access::state(m);
  auto f = primitives::unusable(*to.home, false);
  if (!f) f = not_of(to, h);
  if (f) {
    handler.release()->finish(std::move(f), false);
    return nullptr;
  }
  auto c = primitives::make_change(*to.home, h, to.what, patience_of(terms));
  auto handle = std::make_shared<revocable_handle>(to.home, c);
  c->done = [handle, handler = std::move(handler)](failure why, bool changed) mutable {
    handler.release()->finish(std::move(why), changed);
    handle.reset();
  };
  to.home->convert(std::move(c));
  return handle;
}

pending start_confirm(const held_ptr& s, answer_ptr<bool> handler) {
  const auto home = s ? s->home.lock() : nullptr;
  auto call = std::make_shared<confirm_call>(std::move(handler));
  if (!s) {
    call->answer(errc::not_held, false);
  } else if (s->forked()) {
    call->answer(errc::forked, false);
  } else if (!home || home->closed()) {
    call->answer({}, false);  // the client was closed, and has released it
  } else {
    home->confirm(s, [call](failure f, bool stands) { call->answer(std::move(f), stands); });
  }
  return call;
}

pending start_wait_ready(const home& at, std::chrono::nanoseconds at_most, answer_ptr<> handler) {
  const auto s = std::static_pointer_cast<runtime::client_runtime>(at);
  auto f = s ? primitives::unusable(*s, false) : failure{errc::closed};
  if (f) {
    handler.release()->finish(std::move(f));
    return nullptr;
  }
  auto h = std::make_shared<runtime::readiness>();
  h->limit = s->time().now() + core::within_for_ever(at_most);
  auto handle = std::make_shared<revocable_handle>(s, h);
  h->done = [handle, handler = std::move(handler)](failure why) mutable {
    handler.release()->finish(std::move(why));
    handle.reset();
  };
  s->expect_ready(std::move(h));
  return handle;
}

pending start_release(hold h, answer_ptr<release_outcome> handler) {
  auto call = std::make_shared<release_call>(std::move(handler));
  auto s = access::take(h);
  const auto home = s ? s->home.lock() : nullptr;
  if (s) s->noted.reset();
  if (!s) {
    call->answer(errc::not_held, release_outcome::already_gone);
  } else if (!home || home->closed()) {
    call->answer({}, release_outcome::already_gone);
  } else if (home->forked()) {
    call->answer(errc::forked, release_outcome::unknown);
  } else {
    try {
      home->give_back(s, [call](failure f, release_outcome o) { call->answer(std::move(f), o); });
    } catch (const std::bad_alloc&) {
      s->abandon();  // the coordinator releases it instead of the next renewal
      throw;
    }
  }
  return call;
}

void throw_no_function() { throw error(no_function()); }

held_ptr state_of(const hold& h) { return access::state(h); }

home home_of(const acquirable& m) { return access::state(m)->home; }
home home_of(const client& c) { return access::state(c) ? access::state(c)->home : nullptr; }
home home_of(const hold& h) { return access::state(h) ? access::state(h)->home.lock() : nullptr; }

void complete_at(const home& h, std::function<void()> f) {
  if (h) return static_cast<runtime::client_runtime*>(h.get())->complete(std::move(f));
  complete_at(h, std::make_shared<runtime::plain_completion>(std::move(f)));
}

void complete_at(const home& h, std::shared_ptr<completion> c) {
  if (!h) return runtime::late_line::of_nobody().run_soon(std::move(c));
  static_cast<runtime::client_runtime*>(h.get())->complete(std::move(c));
}

void complete_if_possible(const home& h, std::shared_ptr<completion> c) noexcept {
  try {
    complete_at(h, std::move(c));
  } catch (...) {  // no thread can be started, or the user's executor threw
  }
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
