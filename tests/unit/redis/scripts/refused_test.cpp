// A server that takes no writes: what it refused is never said to stand, and what it could not say is never taken for a fate.
#include "unit/redis/scripts/fixture.hpp"

#include <sys/stat.h>
#include <unistd.h>

namespace tyer::test {

struct refusal_kind {
  const char* name;
  const char* code;
};

void PrintTo(const refusal_kind& k, std::ostream* out) { *out << k.name; }

class redis_scripts_refused : public redis_scripts, public testing::WithParamInterface<refusal_kind> {
 protected:
  ~redis_scripts_refused() override {
    allow();
    server.ask({"FLUSHALL"});
    if (fails_to_save_) save_again();
  }

  std::string config(const char* name) { return server.ask({"CONFIG", "GET", name}).items.at(1).text; }
  void set(const char* name, const char* value) {
    const auto v = server.ask({"CONFIG", "SET", name, value});
    ASSERT_FALSE(v.is_error()) << v.text;
  }
  std::string save_status() {
    const auto info = server.ask({"INFO", "persistence"}).text;
    if (info.find("rdb_bgsave_in_progress:0") == info.npos) return "busy";
    const auto at = info.find("rdb_last_bgsave_status:");
    return info.substr(at + 23, info.find('\r', at) - at - 23);
  }
  void save_until(const std::string& status) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (save_status() != status && std::chrono::steady_clock::now() < end) {
      server.ask({"BGSAVE"});
      std::this_thread::sleep_for(10ms);
    }
    ASSERT_EQ(save_status(), status);
  }
  // A folder is in the way of the file that is to be saved.
  std::string obstacle() { return config("dir") + "/" + config("dbfilename"); }
  void fail_to_save() {
    ::unlink(obstacle().c_str());
    ASSERT_EQ(::mkdir(obstacle().c_str(), 0700), 0);
    set("save", "3600 100000");
    save_until("err");
  }
  void save_again() {
    ::rmdir(obstacle().c_str());
    save_until("ok");
    set("save", "");
    set("stop-writes-on-bgsave-error", "yes");
    ::unlink(obstacle().c_str());
  }

  void refuse() {
    refuses_ = true;
    const std::string code = GetParam().code;
    if (code == "OOM") set("maxmemory", "1");
    if (code == "NOREPLICAS") set("min-replicas-to-write", "3");
    if (code == "READONLY") server.ask({"REPLICAOF", "127.0.0.1", "1"});
    if (code != "MISCONF") return;
    if (!std::exchange(fails_to_save_, true)) fail_to_save();
    set("stop-writes-on-bgsave-error", "yes");
  }
  void allow() {
    if (!std::exchange(refuses_, false)) return;
    set("maxmemory", "0");
    set("min-replicas-to-write", "0");
    server.ask({"REPLICAOF", "NO", "ONE"});
    if (fails_to_save_) set("stop-writes-on-bgsave-error", "no");
  }

  // Either nothing was done, and it says so; or it was done, which a server out of memory allows where nothing is added.
  void expect_nothing_done_or_done(const std::function<raw_value()>& act, const std::string& done,
                                   const std::string& what) {
    const auto before = kept();
    refuse();
    const auto v = act();
    allow();
    if (v.is_error()) {
      EXPECT_TRUE(v.text.starts_with(GetParam().code)) << what << ": " << v.text;
      EXPECT_EQ(kept(), before) << what;
    } else {
      EXPECT_EQ(GetParam().code, "OOM"s) << what << ": " << v.text;
      EXPECT_EQ(v.text, done) << what;
      EXPECT_NE(kept(), before) << what;
    }
  }

  struct kind {
    const char* name;
    how with;
  };
  static std::vector<kind> kinds() {
    return {{"exclusive", {}},
            {"delay", {.delay = 1s}},
            {"shared", {.as = engine::mode::shared}},
            {"shared delay", {.as = engine::mode::shared, .delay = 1s}},
            {"permit", {.as = engine::mode::permit, .take = 1, .capacity = 1}},
            {"permit delay", {.as = engine::mode::permit, .delay = 1s, .take = 1, .capacity = 1}}};
  }
  // For each mode, without and with somebody who waits.
  void for_each(const std::function<void(const kind&, const std::string&)>& act) {
    for (const auto& k : kinds()) {
      for (const bool contended : {false, true}) {
        server.ask({"FLUSHALL"});
        acquire(ann, k.with);
        if (contended) {
          ASSERT_EQ(acquire(bob)[0], 'q');
        }
        act(k, k.name + (contended ? ", contended"s : ""s));
      }
    }
  }

 private:
  bool refuses_ = false, fails_to_save_ = false;
};

TEST_P(redis_scripts_refused, a_renewal_is_not_answered_holding) {
  for_each([&](const kind&, const std::string& what) {
    expect_nothing_done_or_done([&] { return call(scripts::keep_holds, {"1", key, "20000", "86400000", ann}); }, "none",
                                what);
    EXPECT_EQ(keep_hold(ann), "h") << what << ": nor is it taken for gone";
  });
}

TEST_P(redis_scripts_refused, a_waiter_is_not_told_that_it_is_gone_or_has_its_turn) {
  for_each([&](const kind& k, const std::string& what) {
    acquire(bob);
    expect_nothing_done_or_done([&] { return call(scripts::keep_waiters, {"1", key, "4000", "86400000", bob}); },
                                "none", what);
    EXPECT_EQ(keep_waiter(bob), "w") << what;

    auto dying = k.with;
    dying.ttl = 10ms;
    dying.delay = 0ms;
    do {  // on a busy machine it may be over before bob can queue
      server.ask({"FLUSHALL"});
      dying.ttl *= 2;
      acquire(ann, dying);
    } while (acquire(bob)[0] != 'q');
    outlast(dying.ttl);
    expect_nothing_done_or_done([&] { return call(scripts::keep_waiters, {"1", key, "4000", "86400000", bob}); }, "h",
                                what + ", its turn");
  });
}

TEST_P(redis_scripts_refused, an_acquire_leaves_nothing_behind) {
  for_each([&](const kind& k, const std::string& what) {
    expect_nothing_done_or_done([&] { return call(scripts::acquire, {"1", key, cid + "C"s, packed(k.with)}); }, "none",
                                what);
    expect_nothing_done_or_done([&] { return call(scripts::acquire, {"1", key, ann + "A"s, packed(k.with)}); }, "none",
                                what + ", again");
  });
}

TEST_P(redis_scripts_refused, a_release_is_done_or_not) {
  for_each([&](const kind&, const std::string& what) {
    expect_nothing_done_or_done([&] { return call(scripts::release, {"1", key, ann}); }, "h", what);
  });
  for_each([&](const kind&, const std::string& what) {
    acquire(bob);
    expect_nothing_done_or_done([&] { return call(scripts::release, {"1", key, bob}); }, "w", what + ", a waiter");
  });
}

TEST_P(redis_scripts_refused, a_conversion_is_done_or_not) {
  redis::commands c{redis::keys{"tyer:"}, 24h, 100};
  for (const auto& [from, to] : {std::pair{engine::mode::exclusive, engine::mode::shared},
                                 std::pair{engine::mode::shared, engine::mode::exclusive}}) {
    for (const auto delay : {0ms, 1000ms}) {
      server.ask({"FLUSHALL"});
      const auto first = acquire(ann, {.as = from, .delay = delay});
      std::vector<std::string> words;
      const engine::target target{core::id::from(ann), "n"};
      for (const auto word : c.convert(target, to, never)) words.emplace_back(word);
      const auto before = kept();
      refuse();
      const auto v = call(scripts::convert, words);
      allow();
      if (v.is_error()) {
        EXPECT_TRUE(v.text.starts_with(GetParam().code)) << v.text;
        EXPECT_EQ(kept(), before);
      } else {
        EXPECT_EQ(GetParam().code, "OOM"s) << v.text;
        EXPECT_EQ(shown().at(2), to == engine::mode::shared ? "s" : "x");
      }
    }
  }
}

TEST_P(redis_scripts_refused, a_lift_and_an_eviction_are_done_or_not) {
  const auto part = part_of(acquire(ann));
  const auto before = kept();
  refuse();
  redis::commands c{redis::keys{"tyer:"}, 24h, 100};
  std::vector<std::string> words;
  const engine::target target{core::id::from(ann), "n"};
  for (const auto word : c.lift(target, part + 9)) words.emplace_back(word);
  EXPECT_TRUE(call(scripts::lift, words).is_error());
  EXPECT_TRUE(call(scripts::evict, {"1", key, ann}).is_error());
  allow();
  EXPECT_EQ(kept(), before);
}

INSTANTIATE_TEST_SUITE_P(by, redis_scripts_refused,
                         testing::Values(refusal_kind{"out_of_memory", "OOM"}, refusal_kind{"a_replica", "READONLY"},
                                         refusal_kind{"too_few_replicas", "NOREPLICAS"},
                                         refusal_kind{"a_full_disk", "MISCONF"}),
                         [](const auto& kind) { return std::string{kind.param.name}; });

TEST_F(redis_scripts, who_may_not_read_a_name_is_not_shown_a_free_one) {
  acquire(ann);
  server.ask({"ACL", "SETUSER", "blind", "on", "nopass", "~*", "&*", "+@all", "-get"});
  raw_redis blind{server_uri()};
  blind.ask({"AUTH", "blind", "x"});
  EXPECT_TRUE(blind.ask({"EVALSHA", std::string{scripts::show.sha1}, "1", key, "10"}).is_error());
  EXPECT_TRUE(
      blind.ask({"EVALSHA", std::string{scripts::keep_holds.sha1}, "1", key, "10000", "86400000", ann}).is_error());
  EXPECT_TRUE(
      blind.ask({"EVALSHA", std::string{scripts::keep_waiters.sha1}, "1", key, "3000", "86400000", ann}).is_error());
  server.ask({"ACL", "DELUSER", "blind"});
}

// Its holders are no hash any more, and nothing can be done about it.
TEST_F(redis_scripts, what_is_wrong_with_one_name_is_not_in_the_way_of_others_and_no_proof) {
  share(ann);
  const auto packed_terms = packed({.as = engine::mode::shared});
  call(scripts::acquire, {"1", other, ann + "A", packed_terms});
  server.ask({"SET", other + "h", "not a hash"});
  EXPECT_EQ(call(scripts::keep_holds, {"3", other, key, other, "10000", "86400000", ann + ann + bob}).text, "uhu");
  EXPECT_TRUE(call(scripts::keep_holds, {"1", other, "10000", "86400000", ann}).is_error());
  server.ask({"DEL", other + "h"});
  acquire(bob);
  server.ask({"SET", other + "w", "not a hash"});
  EXPECT_EQ(call(scripts::keep_waiters, {"2", other, key, "3000", "86400000", cid + bob}).text, "uw");
  EXPECT_TRUE(call(scripts::keep_waiters, {"1", other, "3000", "86400000", cid}).is_error());
}

}  // namespace tyer::test
