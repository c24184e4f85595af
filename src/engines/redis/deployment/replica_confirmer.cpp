#include "engines/redis/deployment/replica_confirmer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace tyer::redis {

namespace {

constexpr std::string_view mark_lives_ms = "1000";

connection::settings for_asking(connection::settings s) {
  s.inbox.clear();
  s.purpose = connection::use::asking;
  return s;
}

engine::failure not_confirmed(std::string words) {
  return {engine::why::unknown, make_error_code(errc::unavailable), std::move(words)};
}

}  // namespace

replica_confirmer::replica_confirmer(loop& l, connection::settings s, std::uint32_t replicas)
    : loop_(&l),
      clock_(s.clock),
      replicas_(replicas),
      patience_(s.request_timeout / 2),  // so that WAIT ends before its request times out
      link_(l, for_asking(std::move(s))) {
  loop_->join(*this);
}

replica_confirmer::~replica_confirmer() { loop_->leave(*this); }

void replica_confirmer::confirm(std::string server_id, std::string_view key, deployment::confirmed back) {
  waiting_.push_back({std::move(server_id), std::string{key}, clock_->now() + patience_, std::move(back)});
  go();
}

void replica_confirmer::go() {
  if (waiting_.empty() || !under_way_.empty() || !link_.is_up()) return;
  under_way_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  // With the name's hash tag, so that in a cluster it is on the same node.
  const auto mark = under_way_.back().key + 'c';
  link_.command("SET", std::array<std::string_view, 4>{mark, "", "PX", mark_lives_ms},
                [this](const received& r) { not_marked_ = r.wrong != nullptr ? r.wrong->words : std::string{}; });
  const auto count = std::to_string(replicas_), limit = std::to_string(patience_.count());
  link_.command("WAIT", std::array<std::string_view, 2>{count, limit}, [this](const received& r) { answered(r); });
}

// The answer may come from another server than the one that granted: after a failover the connections move one by one.
void replica_confirmer::answered(const received& r) {
  std::uint32_t have = 0;
  if (r.wrong == nullptr && !r.words.empty())
    std::from_chars(r.words[0].data(), r.words[0].data() + r.words[0].size(), have);
  // Without the mark, WAIT proves nothing.
  const auto wrong = !not_marked_.empty() ? not_marked_ : r.wrong != nullptr ? r.wrong->words : std::string{};
  const auto few = not_confirmed(!wrong.empty() ? "whether replicas have it is not known: " + wrong
                                                : std::to_string(have) + " of " + std::to_string(replicas_) +
                                                      " replicas have confirmed it within " +
                                                      std::to_string(patience_.count()) + " ms, see ?replicas=");
  const auto moved = not_confirmed("the master has changed before replicas confirmed it");
  for (auto& q : std::exchange(under_way_, {})) {
    const bool enough = wrong.empty() && have >= replicas_;
    q.back(!enough ? &few : q.server != link_.facts().id ? &moved : nullptr);
  }
  go();
}

void replica_confirmer::tick(engine::time_point t) {
  while (!waiting_.empty() && waiting_.front().give_up <= t) {
    over_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
}

engine::time_point replica_confirmer::due() const {
  return waiting_.empty() ? engine::time_point::max() : waiting_.front().give_up;
}

void replica_confirmer::deliver() {
  if (over_.empty()) return;
  const auto late = not_confirmed("the connection that asks the replicas was not available: " +
                                  (link_.is_up() ? std::string{"it is busy"} : link_.absence().words));
  for (auto& q : std::exchange(over_, {})) q.back(&late);
}

void replica_confirmer::close(core::function<void()> done) {
  for (auto& q : std::exchange(waiting_, {})) over_.push_back(std::move(q));
  link_.close([this, done = std::move(done)]() mutable {
    deliver();
    done();
  });
}

}  // namespace tyer::redis
