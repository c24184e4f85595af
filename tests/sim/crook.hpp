// The planted bugs of the engine's client side: answers that were never asked for, dates that are wrong.
#pragma once

#include "sim/bugs.hpp"
#include "sim/call.hpp"
#include "sim/server.hpp"

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tyer::sim {

class crook {
 public:
  crook(bug planted, const server& s) : bug_(planted), server_(s) {}

  struct lie {
    answers what;
    moment sent;  // on the client's clock
  };

  // An answer that is given without asking the server.
  std::unique_ptr<lie> instead_of(const call& c, moment local) {
    if (bug_ == bug::none) return nullptr;
    if (c.what == call::kind::acquire) return instead_of_acquire(c.ask, local);
    const id who = c.targets.front().who;
    if (c.what == call::kind::convert && bug_ == bug::upgrade_not_undone && c.to == mode::shared &&
        c.targets.front().how == mode::shared) {
      return give(engine::answer{engine::granted{0, milliseconds{500}}}, local);
    }
    if (c.what == call::kind::release && bug_ == bug::no_compensation && !granted_.contains(who)) {
      return give(fate::gone, local);
    }
    if (c.what == call::kind::keep && bug_ == bug::no_look_again && c.as == fate::waiting) {
      return give(engine::kept{std::vector<fate>(c.targets.size(), fate::waiting), c.ttl}, local);
    }
    return nullptr;
  }

  // An answer on its way to the one who asked.
  void bend(const id& who, answers& a, moment& sent, moment local) {
    if (bug_ == bug::none) return;
    auto* answer = std::get_if<engine::answer>(&a);
    if (answer != nullptr && bug_ == bug::reply_off_by_one && stray_) *answer = *std::exchange(stray_, std::nullopt);
    if (answer != nullptr && std::holds_alternative<engine::granted>(*answer)) granted_.emplace(who, true);
    if (answer != nullptr && std::holds_alternative<engine::queued>(*answer)) queued_.emplace(who, true);
    if (bug_ == bug::deadline_from_reply) sent = local;
    if (auto* k = std::get_if<engine::kept>(&a); k != nullptr && bug_ == bug::gone_ignored) {
      for (fate& f : k->fates) f = f == fate::gone ? fate::holding : f;
    }
  }

  void on_push(const id& who, moment local) { pushed_.insert_or_assign(who, local); }
  bool hears_revocations() const noexcept { return bug_ != bug::revocation_not_heard; }
  // An answer to a call that has been given up.
  void on_stray(answers a) {
    if (const auto* answer = std::get_if<engine::answer>(&a)) stray_ = *answer;
  }

 private:
  static std::unique_ptr<lie> give(answers what, moment sent) {
    return std::unique_ptr<lie>{new lie{std::move(what), sent}};
  }

  std::unique_ptr<lie> instead_of_acquire(const engine::request& r, moment local) {
    const auto pushed = pushed_.find(r.what.who);
    if (bug_ == bug::validity_from_push && pushed != pushed_.end()) {
      for (const auto& e : server_.entries(index_of(r.what.name))) {
        if (e.who == r.what.who && e.what == fate::holding) {
          return give(engine::answer{engine::granted{e.part, r.ttl, e.slots}}, pushed->second);
        }
      }
    }
    if (bug_ == bug::no_look_again && queued_.contains(r.what.who) && pushed == pushed_.end()) {
      return give(engine::answer{engine::queued{1, r.ttl}}, local);
    }
    return nullptr;
  }

  const bug bug_;
  const server& server_;
  std::unordered_map<id, moment, core::id_hash> pushed_;
  std::unordered_map<id, bool, core::id_hash> granted_, queued_;
  std::optional<engine::answer> stray_;
};

}  // namespace tyer::sim
