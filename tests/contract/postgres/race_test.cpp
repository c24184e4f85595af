// Many clients, one name, sessions that end again and again: nobody believes to hold while another does.
//
// Each client says what the engine would say, and believes what it may: from before it sent to the length of the lease. Some stand
// still for longer than their lease and go on as if nothing had happened.
#include "contract/postgres/raw.hpp"
#include "engines/postgres/statements.hpp"

#include <tyer/clock.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace tyer::postgres {

using namespace std::chrono_literals;

namespace {

constexpr auto ttl = 40ms;
constexpr std::int64_t ttl_us = 40'000;

struct belief {
  lease_clock::time_point from, until;
  std::int64_t token;
};

class one {
 public:
  one(std::string name, int number) : name_(std::move(name)), number_(number), dice_(static_cast<unsigned>(number)) {}

  // Until the time is over.
  void run(std::chrono::steady_clock::time_point end) {
    while (std::chrono::steady_clock::now() < end) {
      hold_ = "hold" + std::to_string(number_) + "/" + std::to_string(++serial_);
      hold_.resize(16, '_');
      if (!take() && !take_over()) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      live();
    }
  }

  std::vector<belief> beliefs;
  std::uint64_t renewals = 0, take_overs = 0, ended = 0;

 private:
  using moment = lease_clock::time_point;

  bool one_in(unsigned n) { return dice_() % n == 0; }

  bool take() {
    const auto sent = lease_clock::now();
    const auto r = c_.run(statement::take, {name_, hold_, ttl_us, std::int64_t{1}, std::string{"o"}, part_max, places});
    if (r.empty() || r[0][0] != "4") return false;
    believe(sent, std::stoll(r[0][4]));
    return true;
  }

  // As the engine does: read; end the session if the hold's own time is over; read again; write if unchanged.
  bool take_over() {
    const auto sent = lease_clock::now();
    for (int round = 0; round < 2; ++round) {
      const auto r = c_.run("SELECT version, expires <= " TYER_NOW
                            ", coalesce(session, 0), token, coalesce((SELECT ended FROM"
                            " tyer_session s WHERE s.id = l.session), l.session IS NOT NULL), " TYER_NOW
                            " FROM tyer_lock l WHERE name = $1::bytea",
                            {name_});
      if (r.empty() || r[0][1] != "t") return false;
      const auto session = std::stoll(r[0][2]), token = std::stoll(r[0][3]), now = std::stoll(r[0][5]);
      const bool dead = session == 0 || r[0][4] == "t";
      if (!dead && round == 0) {
        c_.run(statement::end_sessions, {sql::number_list{session}});
        continue;
      }
      if (!dead) return false;
      const auto part = std::max(token + 1, now);
      const auto w =
          c_.run(statement::write, {name_, std::stoll(r[0][0]), hold_, std::int64_t{1}, part, now + ttl_us, sql::null{},
                                    std::string{"o"}, sql::null{}, std::int64_t{0}, std::int64_t{0}, sql::bytes_list{},
                                    sql::number_list{}, sql::null{}, sql::null{}, sql::null{}});
      if (w.empty()) return false;
      ++take_overs;
      believe(sent, part);
      return true;
    }
    return false;
  }

  // Holds for some renewals; sometimes stands still, sometimes dies without a word.
  void live() {
    if (session_ == 0 || one_in(4)) begin_session();
    for (int i = 0; i < 10 && believes(); ++i) {
      if (one_in(6)) std::this_thread::sleep_for(ttl * 2);
      const auto sent = lease_clock::now();
      if (i == 0) {
        const auto r =
            c_.run(statement::extend, {session_, ttl_us, sql::bytes_list{hold_ + name_}, sql::number_list{session_}});
        if (r.empty()) return;
      } else {
        if (c_.run(statement::renew_session, {session_, ttl_us}).empty()) {
          ++ended;
          session_ = 0;
          return;
        }
        ++renewals;
      }
      if (!believes()) return;  // condemned: no later answer extends it
      beliefs.back().until = std::max(beliefs.back().until, sent + ttl);
      std::this_thread::sleep_for(std::chrono::microseconds{dice_() % 12'000});
    }
    if (!one_in(3)) return;  // dead, for the others
    if (believes()) beliefs.back().until = lease_clock::now();
    c_.run(statement::give_back, {name_, hold_, sql::number_list{session_}, places});
  }

  void begin_session() {
    session_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(dice_()) << 31 ^ dice_() ^
                                         static_cast<unsigned>(c_.now()) << 5) |
               1;
    c_.run(statement::begin_session, {session_, ttl_us});
  }

  bool believes() const { return lease_clock::now() < beliefs.back().until; }
  void believe(moment sent, std::int64_t token) { beliefs.push_back({lease_clock::now(), sent + ttl, token}); }

  raw c_;
  std::string name_, hold_;
  int number_;
  std::uint64_t serial_ = 0;
  std::int64_t session_ = 0;
  std::mt19937 dice_;
};

}  // namespace

TEST(race, nobody_believes_to_hold_while_another_does) {
  const char* text = std::getenv("TYER_RACE_SECONDS");
  const auto length = std::chrono::seconds{text != nullptr ? std::atoi(text) : 5};
  raw any;
  const auto name = "race/" + std::to_string(any.now());
  std::vector<std::unique_ptr<one>> all;
  for (int i = 0; i < 12; ++i) all.push_back(std::make_unique<one>(name, i));
  std::vector<std::thread> threads;
  const auto end = std::chrono::steady_clock::now() + length;
  for (auto& o : all) threads.emplace_back([&o, end] { o->run(end); });
  for (auto& t : threads) t.join();

  std::vector<belief> beliefs;
  std::uint64_t renewals = 0, take_overs = 0, ended = 0;
  for (const auto& o : all) {
    for (const auto& b : o->beliefs) {
      if (b.from < b.until) beliefs.push_back(b);  // else the answer came when it was over
    }
    renewals += o->renewals;
    take_overs += o->take_overs;
    ended += o->ended;
  }
  std::ranges::sort(beliefs, {}, &belief::from);
  std::uint64_t twice = 0, backwards = 0;
  for (std::size_t i = 1; i < beliefs.size(); ++i) {
    twice += beliefs[i].from < beliefs[i - 1].until ? 1 : 0;
    backwards += beliefs[i].token <= beliefs[i - 1].token ? 1 : 0;
  }
  std::printf("race: grants=%zu take_overs=%llu renewals=%llu ended=%llu twice=%llu backwards=%llu\n", beliefs.size(),
              static_cast<unsigned long long>(take_overs), static_cast<unsigned long long>(renewals),
              static_cast<unsigned long long>(ended), static_cast<unsigned long long>(twice),
              static_cast<unsigned long long>(backwards));
  EXPECT_EQ(twice, 0u);
  EXPECT_EQ(backwards, 0u);
  EXPECT_GT(take_overs, 0u);
}

}  // namespace tyer::postgres
