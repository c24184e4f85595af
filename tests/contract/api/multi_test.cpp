// What is special about several locks at once.
#include "contract/api/child.hpp"
#include "contract/api/counter_file.hpp"
#include "contract/api/fixture.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace contract {
namespace {

class multi : public fixture {
 protected:
  static inline const tyer::lock_options options{.ttl = 60s, .local_handoffs = 0};
  using names = std::vector<std::string>;

  // What is free at the engine was not left taken.
  bool all_free(const names& all) {
    return std::ranges::all_of(all, [&](const auto& n) { return raw().entries(n).empty(); });
  }
  bool all_become_free(const names& all) {
    return eventually([&] { return all_free(all); });
  }

  tyer::client a = connect(), b = connect();
  const std::string x = name() + "/x", y = name() + "/y", z = name() + "/z";
};

TEST_F(multi, takes_every_name_once_and_in_one_order) {
  if (!can().token) GTEST_SKIP() << no_token;
  tyer::multi_mutex m{a, {z, x, y, x, z}, options};
  EXPECT_EQ(m.size(), 3U);
  auto h = m.acquire();
  ASSERT_TRUE(h.valid());
  ASSERT_EQ(h.parts().size(), 3U);
  EXPECT_EQ(h.parts()[0].name(), x);
  EXPECT_EQ(h.parts()[1].name(), y);
  EXPECT_EQ(h.parts()[2].name(), z);
  for (const auto& n : {x, y, z}) {
    EXPECT_EQ(raw().holding(n).size(), 1U);
    EXPECT_FALSE(took(tyer::mutex{b, n}.try_acquire()));
    EXPECT_GT(h.token(n), 0U);
  }
  EXPECT_EQ(h.token(y), h.parts()[1].token());
  EXPECT_EQ(code_of([&] { static_cast<void>(h.token(name())); }), errc::not_held);
  EXPECT_EQ(h.release(), tyer::release_outcome::released);
  EXPECT_FALSE(h);
  EXPECT_TRUE(all_free({x, y, z}));
}

TEST_F(multi, of_two_databases_of_one_server_only_one_was_locked) {
  if (!engine_uri().starts_with("redis://")) GTEST_SKIP() << "this engine has no numbered databases";
  const auto with_database = [uri = engine_uri()](const char* number) {
    return std::string{uri}.insert(std::min(uri.find('?'), uri.size()), number);
  };
  const tyer::client first{with_database("/1")}, second{with_database("/2")};
  tyer::multi_mutex m{{{first, x}, {second, x}}, options};
  EXPECT_EQ(m.size(), 2U);
  const auto h = m.acquire();
  EXPECT_FALSE(took(tyer::mutex{first, x}.try_acquire()));
  EXPECT_FALSE(took(tyer::mutex{second, x}.try_acquire()));
  EXPECT_TRUE(tyer::admin{first}.address().ends_with("/1"));
}

TEST_F(multi, of_one_database_with_and_without_its_number_waited_for_itself_for_ever) {
  if (!engine_uri().starts_with("redis://")) GTEST_SKIP() << "this engine has no numbered databases";
  const tyer::client again{
      std::string{engine_uri()}.insert(std::min(engine_uri().find('?'), engine_uri().size()), "/0")};
  tyer::multi_mutex m{{{a, x}, {again, x}}, options};
  EXPECT_EQ(m.size(), 1U);
  EXPECT_TRUE(took(m.try_acquire_for(5s)));
}

// One attempt has no limit but that of a request.
TEST_F(multi, a_limit_that_had_passed_already_became_an_attempt_that_waited_for_a_silent_engine) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  auto c = connect({.request_timeout = 10s});
  tyer::multi_mutex m{c, {x, y}, options};
  m.acquire().release();
  engine.pause();
  const stopwatch watch;
  tyer::failure why;
  EXPECT_FALSE(took(m.try_acquire_for(why, 1ns)));
  EXPECT_EQ(why.code, errc::unavailable);
  EXPECT_LT(watch.elapsed(), slack);
  engine.resume();
}

TEST_F(multi, each_name_has_a_token_that_grows) {
  if (!can().token) GTEST_SKIP() << no_token;
  tyer::multi_mutex both{a, {x, y}, options}, other{b, {y, z}, options};
  auto one = both.acquire();
  const auto first_y = one.token(y);
  one.release();
  auto two = other.acquire();
  EXPECT_GT(two.token(y), first_y);
}

TEST_F(multi, needs_a_name_and_says_which_one_is_wrong) {
  EXPECT_EQ(code_of([&] { tyer::multi_mutex m(a, names{}); }), errc::invalid_option);
  EXPECT_EQ(code_of([&] { tyer::multi_mutex m(a, {x, ""}); }), errc::invalid_name);
}

TEST_F(multi, one_that_is_taken_refuses_a_try_and_nothing_is_left_taken) {
  tyer::multi_mutex m{a, {x, y, z}, options};
  for (const auto& taken : {x, y, z}) {
    auto theirs = tyer::mutex{b, taken, options}.acquire();
    const stopwatch watch;
    tyer::failure why;
    EXPECT_FALSE(took(m.try_acquire(why)));
    EXPECT_FALSE(why);
    EXPECT_FALSE(m.try_lock());
    EXPECT_LT(watch.elapsed(), slack);
    theirs.release();
    EXPECT_TRUE(all_become_free({x, y, z})) << taken;
  }
  EXPECT_TRUE(took(m.try_acquire()));
}

TEST_F(multi, there_is_one_deadline_for_all_and_nothing_is_left_taken) {
  constexpr auto limit = 2s;
  if (!can().queue) GTEST_SKIP() << no_queue;
  tyer::multi_mutex m{a, {x, y, z}, options};
  auto on_x = tyer::mutex{b, x, options}.acquire(), on_z = tyer::mutex{b, z, options}.acquire();
  const stopwatch watch;
  auto waiting = in_background([&] { return took(m.try_acquire_for(limit)); });
  ASSERT_TRUE(eventually([&] { return raw().waiting(x).size() == 1; }));
  on_x.release();  // part of the time has gone by; only the rest is left for z
  EXPECT_FALSE(soon(waiting));
  EXPECT_GE(watch.elapsed(), limit);
  EXPECT_LT(watch.elapsed(), limit + slack);
  EXPECT_TRUE(all_become_free({x, y}));
  EXPECT_TRUE(eventually([&] { return raw().waiting(z).empty(); }));
}

TEST_F(multi, a_cancelled_wait_leaves_nothing_taken) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  tyer::multi_mutex m{a, {x, y, z}, options};
  auto on_z = tyer::mutex{b, z, options}.acquire();
  std::stop_source stop;
  auto waiting = in_background([&] { return code_of([&] { static_cast<void>(m.acquire(stop.get_token())); }); });
  ASSERT_TRUE(eventually([&] { return raw().waiting(z).size() == 1; }));
  EXPECT_EQ(raw().holding(x).size(), 1U);
  stop.request_stop();
  EXPECT_EQ(soon(waiting), errc::cancelled);
  EXPECT_TRUE(all_become_free({x, y}));
}

TEST_F(multi, threads_with_the_names_in_another_order_never_wait_for_each_other) {
  std::atomic<int> inside{0}, turns{0};
  const auto work = [&](const tyer::client& c, const names& in_this_order) {
    tyer::multi_mutex m{c, in_this_order};
    for (int i = 0; i < 10; ++i) {
      auto h = m.acquire();
      EXPECT_EQ(inside.fetch_add(1), 0);
      inside.fetch_sub(1);
      ++turns;
    }
  };
  std::vector<std::future<void>> all;
  for (const auto* c : {&a, &b}) {
    all.push_back(in_background([&, c] { work(*c, {x, y, z}); }));
    all.push_back(in_background([&, c] { work(*c, {z, y, x}); }));
    all.push_back(in_background([&, c] { work(*c, {y, x}); }));
  }
  for (auto& one : all) soon(one);
  EXPECT_EQ(turns.load(), 60);
}

TEST_F(multi, processes_with_the_names_in_another_order_never_wait_for_each_other) {
  if (!engine.there()) GTEST_SKIP() << no_server;
  const counter_file counts;
  std::vector<std::unique_ptr<child>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<child>(child_order{.name = name(),
                                                      .kind = i % 2 == 0 ? "multi_mutex" : "multi_mutex_reversed",
                                                      .ttl = 20s,
                                                      .turns = 15,
                                                      .file = counts.path()}));
  }
  for (const auto& one : all) {
    const auto said = one->line(patience);
    ASSERT_TRUE(said);
    EXPECT_EQ(*said, "worked 1");
  }
}

TEST_F(multi, the_loss_of_one_is_the_loss_of_all) {
  tyer::multi_mutex m{a, {x, y, z}, options};
  for (const auto& broken : {x, y, z}) {
    auto h = m.acquire();
    ASSERT_FALSE(h.lost().stop_requested());
    const auto held = raw().holding(broken);
    ASSERT_EQ(held.size(), 1U);
    raw().evict(held.front());
    EXPECT_TRUE(wait_for_loss(h.lost())) << broken;
    EXPECT_FALSE(h.valid());
    EXPECT_EQ(h.remaining(), 0s);
    EXPECT_EQ(h.release(), tyer::release_outcome::already_gone);  // the worst of them
    EXPECT_TRUE(all_free({x, y, z}));                             // those that were not lost were given back
  }
}

TEST_F(multi, whoever_asks_for_one_is_heard_by_the_holder_of_all) {
  tyer::multi_mutex m{a, {x, y, z}, options};
  for (const auto& wanted : {x, y, z}) {
    auto h = m.acquire();
    ASSERT_FALSE(h.revoked().stop_requested());
    EXPECT_EQ(b.ask(wanted), 1U);
    EXPECT_TRUE(wait_for_loss(h.revoked())) << wanted;
    EXPECT_TRUE(h.valid()) << "nothing is taken";
    EXPECT_FALSE(h.lost().stop_requested());
    h.release();
  }
  auto h = std::make_unique<tyer::multi_hold>(m.acquire());
  EXPECT_EQ(b.ask(y), 1U);
  std::promise<void> given;
  {
    const std::stop_callback polite{h->revoked(), [&] {  // asked for before anybody looked
                                      h.reset();
                                      given.set_value();
                                    }};
    soon(given.get_future());
  }
  EXPECT_TRUE(all_become_free({x, y, z}));
}

TEST_F(multi, a_later_callback_of_its_loss_may_destroy_it) {
  tyer::multi_mutex m{a, {x, y}, options};
  auto h = std::make_unique<tyer::multi_hold>(m.acquire());
  std::promise<void> done;
  {
    const std::stop_callback callback{h->lost(), [&] {
                                        h.reset();
                                        done.set_value();
                                      }};
    raw().evict(raw().holding(x).front());
    soon(done.get_future());
  }
  EXPECT_TRUE(all_become_free({x, y}));
}

TEST_F(multi, is_valid_until_the_earliest_of_them) {
  tyer::multi_mutex m{a, {x, y, z}, options};
  auto h = m.acquire();
  auto earliest = tyer::lease_clock::time_point::max();
  for (const auto& part : h.parts()) earliest = std::min(earliest, part.valid_until());
  EXPECT_EQ(h.valid_until(), earliest);
  // The first one was granted first; or they share a lease, and an engine tells what is left of it in milliseconds.
  EXPECT_LE(h.parts().front().valid_until() - h.valid_until(), 1ms);
  EXPECT_GT(h.remaining(), 50s);
}

TEST_F(multi, begins_anew_when_an_earlier_one_is_lost_while_a_later_one_is_waited_for) {
  if (!can().queue) GTEST_SKIP() << no_queue;
  tyer::multi_mutex m{a, {x, y}, options};
  auto on_y = tyer::mutex{b, y, options}.acquire();
  auto waiting = in_background([&] { return m.acquire(); });
  ASSERT_TRUE(eventually([&] { return raw().waiting(y).size() == 1; }));
  const auto first = raw().holding(x);
  ASSERT_EQ(first.size(), 1U);
  tyer::mutex on_x{b, x, options};
  auto between = acquire_later(on_x);  // another one has x meanwhile
  ASSERT_TRUE(eventually([&] { return raw().waiting(x).size() == 1; }));
  raw().evict(first.front());
  auto theirs = soon(between.done).hold;
  ASSERT_TRUE(eventually([&] { return raw().waiting(x).size() == 1; }));  // it waits for x again
  EXPECT_TRUE(eventually([&] { return raw().waiting(y).empty(); }));      // and for y no more
  const auto their_token = theirs.token();
  on_y.release();
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  theirs.release();
  auto h = soon(waiting);
  EXPECT_TRUE(h.valid());
  EXPECT_GT(h.token(x), their_token);
}

TEST_F(multi, works_across_engines_and_prefixes) {
  tyer::client elsewhere = connect({.prefix = "another:"});
  tyer::client memory{"memory://contract-multi"};
  tyer::multi_mutex m{{{memory, x}, {elsewhere, x}, {a, x}, {a, x}}, options};
  EXPECT_EQ(m.size(), 3U);
  tyer::mutex in_memory{memory, x}, in_prefix{elsewhere, x}, here{b, x};
  {
    auto h = m.acquire();
    ASSERT_EQ(h.parts().size(), 3U);
    EXPECT_FALSE(took(in_memory.try_acquire()) || took(in_prefix.try_acquire()) || took(here.try_acquire()));
  }
  EXPECT_TRUE(took(in_memory.try_acquire_for(patience)) && took(in_prefix.try_acquire_for(patience)) &&
              took(here.try_acquire_for(patience)));
  auto theirs = in_memory.try_acquire_for(patience);
  EXPECT_FALSE(took(m.try_acquire()));
  EXPECT_TRUE(took(in_prefix.try_acquire_for(patience)) && took(here.try_acquire_for(patience)));
}

TEST_F(multi, clients_of_one_engine_are_one_place) {
  tyer::multi_mutex m{{{a, x}, {b, x}, {b, y}}, options};
  EXPECT_EQ(m.size(), 2U);
  EXPECT_TRUE(took(m.try_acquire()));
}

// One took x and waited for y, the other took y and waited for x: the address came first, and a server has several.
TEST_F(multi, two_addresses_of_one_server_made_two_wait_for_each_other) {
  const std::string by_number = "127.0.0.1";
  auto uri = engine_uri();
  if (uri.find(by_number) == std::string::npos) GTEST_SKIP() << "this engine has one address";
  for (auto at = uri.find(by_number); at != std::string::npos; at = uri.find(by_number)) {
    uri.replace(at, by_number.size(), "localhost");
  }
  tyer::client c{uri}, d{uri};
  ASSERT_TRUE(c.wait_ready(patience) && d.wait_ready(patience));
  using part = tyer::multi_mutex::part;
  tyer::multi_mutex one{std::vector<part>{{a, x}, {c, y}}, options}, other{std::vector<part>{{b, y}, {d, x}}, options};
  std::stop_source enough;
  std::atomic<int> turns{0};
  const auto work = [&](const tyer::multi_mutex& m) {
    tyer::failure why;
    for (int i = 0; i < 50 && !why; ++i) {
      if (const auto h = m.acquire(why, enough.get_token())) ++turns;
    }
  };
  auto forth = in_background([&] { work(one); });
  auto back = in_background([&] { work(other); });
  const bool all = eventually([&] { return turns == 100; });
  enough.request_stop();
  EXPECT_TRUE(all) << turns << " of 100";
}

TEST_F(multi, ends_when_any_of_its_clients_is_closed) {
  tyer::multi_mutex m{{{a, x}, {b, y}}, options};
  auto h = m.acquire();
  b.close();
  EXPECT_TRUE(wait_for_loss(h.lost()));
  h = {};
  EXPECT_EQ(code_of([&] { static_cast<void>(m.try_acquire_for(patience)); }), errc::closed);
  EXPECT_TRUE(all_become_free({x, y}));
}

TEST_F(multi, an_empty_one_answers_everything) {
  tyer::multi_hold none;
  EXPECT_FALSE(none || none.valid());
  EXPECT_EQ(none.remaining(), 0s);
  EXPECT_LT(none.valid_until(), tyer::lease_clock::now());
  EXPECT_FALSE(none.lost().stop_possible() || none.revoked().stop_possible());
  EXPECT_TRUE(none.parts().empty());
  EXPECT_EQ(code_of([&] { none.release(); }), errc::not_held);
  tyer::failure why;
  EXPECT_EQ(none.release(why), tyer::release_outcome::already_gone);
  EXPECT_EQ(why.code, errc::not_held);
}

}  // namespace
}  // namespace contract
