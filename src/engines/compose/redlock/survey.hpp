// One request to every node, and the answers so far. It ends when all nodes have answered or failed, when the answers
// suffice, or when a majority has answered and the others have had enough time.
//
// No socket, clock, thread or log: answers and times come in.
#pragma once

#include "core/function.hpp"
#include "engines/compose/redlock/quorum.hpp"

#include <tyer/error.hpp>

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tyer::redlock {

class survey_base {
 public:
  virtual ~survey_base() = default;
  virtual void on_time(time_point now) = 0;
  virtual void give_up(time_point now) = 0;
  bool over() const noexcept { return over_; }
  time_point due() const noexcept { return due_; }

 protected:
  bool over_ = false;
  time_point due_;
};

template <class T>
class survey final : public survey_base {
 public:
  using answers = std::vector<std::optional<std::variant<T, failure>>>;
  using judge = core::function<bool(const survey&)>;
  using finish = core::function<void(survey&)>;

  // `knows` may be null. `done` is called once, when it is over.
  survey(std::size_t nodes, time_point sent, time_point give_up_at, duration straggle, judge knows, finish done)
      : straggle_(straggle), all_(nodes), knows_(std::move(knows)), done_(std::move(done)), sent_(sent) {
    due_ = give_up_at;
  }

  void on_answer(std::size_t node, std::variant<T, failure> said, time_point now) {
    if (over_ || all_[node]) return;
    all_[node] = std::move(said);
    if (!counted_ && good() >= majority(all_.size())) {
      counted_ = true;
      due_ = std::min(due_, now + straggle_);
    }
    std::size_t missing = 0;
    for (const auto& a : all_) missing += a ? 0 : 1;
    if (missing == 0 || (knows_ && knows_(*this))) return end();
    on_time(now);
  }
  void on_time(time_point now) override {
    if (!over_ && now >= due_) end();
  }
  void give_up(time_point) override {
    if (!over_) end();
  }

  time_point sent() const noexcept { return sent_; }
  const answers& all() const noexcept { return all_; }
  const T* of(std::size_t node) const noexcept { return all_[node] ? std::get_if<T>(&*all_[node]) : nullptr; }
  const failure* wrong(std::size_t node) const noexcept {
    return all_[node] ? std::get_if<failure>(&*all_[node]) : nullptr;
  }
  std::size_t good() const noexcept {
    std::size_t n = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) n += of(i) != nullptr ? 1 : 0;
    return n;
  }
  bool has_majority() const noexcept { return good() >= majority(all_.size()); }

  // Why there is no majority. If there is none without the nodes that refused, a retry does not help.
  failure shortage(const std::vector<std::string>& names) const {
    std::size_t refusals = 0;
    const failure* refusal = nullptr;
    failure f{why::not_sent, make_error_code(errc::unavailable),
              std::to_string(majority(all_.size())) + " of " + std::to_string(all_.size()) + " nodes are needed"};
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const failure* w = wrong(i);
      if (of(i) != nullptr) continue;
      f.words += "; " + names[i] + ": " + (w != nullptr ? w->words : "no answer yet");
      if (w == nullptr || w->kind == why::unknown) f.kind = why::unknown;
      if (w == nullptr || core::passing(w->kind)) continue;
      ++refusals;
      refusal = w;
    }
    return refusals > all_.size() - majority(all_.size()) ? *refusal : f;
  }

 private:
  void end() {
    over_ = true;
    due_ = time_point::max();
    done_(*this);
  }

  duration straggle_;
  answers all_;
  judge knows_;
  finish done_;
  time_point sent_;
  bool counted_ = false;
};

}  // namespace tyer::redlock
