// Confirms and releases all parts of a multi_hold without a waiting thread.
#include "api/access.hpp"
#include "api/multi_parts.hpp"

#include <tyer/detail/async.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

namespace {

// The worst outcome, and the first failure.
struct release_verdict {
  using answer = release_outcome;

  void add(failure f, release_outcome o) {
    worst = std::max(worst, o);
    if (f && !why) why = std::move(f);
  }
  release_outcome value(failure& f) {
    f = std::move(why);
    return worst;
  }

  release_outcome worst = release_outcome::released;
  failure why = {};
};

// A known loss of one part outweighs unknown answers about others.
struct confirm_verdict {
  using answer = bool;

  void add(failure f, bool stands) {
    one_is_lost = one_is_lost || (!f && !stands);
    if (f && !why) why = std::move(f);
  }
  bool value(failure& f) {
    if (one_is_lost) return false;
    f = std::move(why);
    return !f && std::ranges::all_of(parts, still_valid);  // the part confirmed first may have ended meanwhile
  }

  static bool still_valid(const held_ptr& s) {
    const auto at = s->home.lock();
    return at && s->valid(at->time().now());
  }

  held_parts parts;
  bool one_is_lost = false;
  failure why = {};
};

// Makes one call for each part, and one answer of all of theirs.
template <class Verdict>
class joint_call final : public pending_call, public std::enable_shared_from_this<joint_call<Verdict>> {
 public:
  using answer = typename Verdict::answer;

  joint_call(answer_ptr<answer> h, Verdict v) : handler_(std::move(h)), verdict_(std::move(v)) {}

  // The call that is under way while the parts are started keeps a part's answer from ending it too early.
  template <class Parts, class Start>
  void begin(Parts&& parts, Start start) {
    left_ = parts.size() + 1;
    for (auto& p : parts) {
      const auto begun = start(p, std::make_unique<part>(this->shared_from_this()));
      const std::lock_guard lock{mutex_};
      parts_.push_back(begun);
    }
    count_down(std::unique_lock{mutex_});
  }
  void cancel() override {
    std::unique_lock lock{mutex_};
    const auto all = parts_;
    lock.unlock();
    for (const auto& p : all) {
      if (const auto still = p.lock()) still->cancel();
    }
  }

 private:
  struct part final : answer_object<answer> {
    explicit part(std::shared_ptr<joint_call> c) : call(std::move(c)) {}
    void done(failure f, answer a) override {
      std::unique_lock lock{call->mutex_};
      call->verdict_.add(std::move(f), a);
      call->count_down(std::move(lock));
    }
    std::shared_ptr<joint_call> call;
  };

  void count_down(std::unique_lock<std::mutex> lock) {
    if (--left_ != 0) return;
    lock.unlock();
    failure why;
    const answer a = verdict_.value(why);
    handler_.release()->finish(std::move(why), a);
  }

  answer_ptr<answer> handler_;
  std::mutex mutex_;
  // A call that is dropped, because memory is exhausted, must end: its end is an answer too.
  std::vector<std::weak_ptr<pending_call>> parts_;
  std::size_t left_ = 0;
  Verdict verdict_;
};

}  // namespace

pending start_confirm(const held_parts& parts, answer_ptr<bool> handler) {
  if (parts.empty()) {
    handler.release()->finish(errc::not_held, false);
    return nullptr;
  }
  auto call = std::make_shared<joint_call<confirm_verdict>>(std::move(handler), confirm_verdict{parts});
  call->begin(parts, [](const held_ptr& s, answer_ptr<bool> to) { return start_confirm(s, std::move(to)); });
  return call;
}

pending start_release(multi_hold h, answer_ptr<release_outcome> handler) {
  auto parts = multi_maker::take(h);
  if (parts.empty()) {
    handler.release()->finish(errc::not_held, release_outcome::already_gone);
    return nullptr;
  }
  auto call = std::make_shared<joint_call<release_verdict>>(std::move(handler), release_verdict{});
  call->begin(parts,
              [](hold& p, answer_ptr<release_outcome> to) { return start_release(std::move(p), std::move(to)); });
  return call;
}

held_parts state_of(const multi_hold& h) {
  held_parts all;
  all.reserve(h.parts().size());
  for (const hold& p : h.parts()) all.push_back(state_of(p));
  return all;
}

home home_of(const multi_hold& h) { return h ? home_of(h.parts().front()) : nullptr; }

}  // namespace detail
}  // namespace v1
}  // namespace tyer
