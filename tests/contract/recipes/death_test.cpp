// The one who computes is killed, or stopped for longer than its ttl, half-way: another process goes on.
#include "contract/api/child.hpp"
#include "contract/recipes/file_store.hpp"
#include "contract/recipes/recipe_fixture.hpp"

#include <signal.h>

#include <filesystem>

namespace contract {
namespace {

using recipes::fresh;
using tyer::hold;

constexpr auto ttl = 3s;         // etcd knows only whole seconds
constexpr auto waiter_ttl = 2s;  // a machine that stands still for a second takes nobody's place
constexpr auto period = 4s;

class death : public fixture {
 protected:
  void SetUp() override {
    if (!engine.there()) GTEST_SKIP() << no_server;
    std::filesystem::create_directory(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // A process that is inside the callback of a recipe. A job whose start took a busy machine more than a second skips its period,
  // and is started in the next one.
  std::unique_ptr<child> inside(const std::string& kind) {
    std::unique_ptr<child> c;
    std::optional<std::string> said;
    eventually([&] {
      c = std::make_unique<child>(child_order{.name = name(),
                                              .kind = kind,
                                              .ttl = ttl,
                                              .waiter_ttl = waiter_ttl,
                                              .turns = static_cast<int>(period.count()),
                                              .file = folder.string()});
      said = c->line(patience);
      return said != "got nothing";
    });
    if (said != "inside") throw std::runtime_error(said.value_or("it said nothing"));
    return c;
  }

  const std::filesystem::path folder = ::testing::TempDir() + "recipes-" + std::to_string(::getpid());
  const tyer::lock_options lock{.ttl = ttl, .waiter_ttl = waiter_ttl};
  tyer::client client = connect();
  std::shared_ptr<file_store> store = std::make_shared<file_store>(folder);
  const recipes::compute ours = [](const hold&) { return fresh{"ours", 10min}; };
};

TEST_F(death, of_who_computes_lets_the_next_one_compute_within_its_ttl) {
  const recipes::single_flight flight{client, name(), store, {.lock = lock}};
  inside("single_flight")->kill();
  const stopwatch watch;
  EXPECT_EQ(flight.get("k", ours), "ours");
  EXPECT_LT(watch.elapsed(), ttl + slack);
}

TEST_F(death, who_was_only_stopped_while_it_computed_is_given_the_newer_value) {
  const recipes::single_flight flight{client, name(), store, {.lock = lock}};
  auto stopped = inside("single_flight");
  stopped->signal(SIGSTOP);
  EXPECT_EQ(flight.get("k", ours), "ours");
  stopped->release();
  stopped->signal(SIGCONT);
  EXPECT_EQ(stopped->line(patience), "got ours");
  EXPECT_EQ(store->find(name() + "/k")->value, "ours");
}

TEST_F(death, of_a_job_does_not_let_it_start_again_in_its_period) {
  const recipes::once_per once{engine_uri(), name(), period};
  auto job = inside("once_per");  // it was taken before that, so this is the latest time it began
  job->kill();
  EXPECT_FALSE(once.run([] {}));
  const stopwatch watch;
  EXPECT_TRUE(eventually([&] { return once.run([] {}); }));
  EXPECT_LT(watch.elapsed(), period + 1s + 2 * slack);
}

TEST_F(death, of_who_fetches_lets_the_next_one_fetch_when_the_period_is_over) {
  const recipes::shared_value token{client, {engine_uri(), name(), period}, store, {.lock = lock}};
  auto fetcher = inside("shared_value");
  const stopwatch watch;
  fetcher->kill();
  EXPECT_EQ(token.get(ours), "ours");
  EXPECT_GE(watch.elapsed(), period - 2s);  // the killed one began a little earlier
  EXPECT_LT(watch.elapsed(), ttl + period + 1s + 2 * slack);
}

TEST_F(death, of_who_has_a_stripe_costs_the_others_nothing_and_the_stripe_its_ttl) {
  const recipes::striped stock{client, name(), 2, lock};
  auto buyer = inside("striped");
  buyer->kill();
  const stopwatch watch;
  int free = 0;
  EXPECT_FALSE(stock.take([&](std::size_t, const hold&) {
    if (free++ == 0) {
      EXPECT_LT(watch.elapsed(), slack);
    }
    return false;
  }));
  EXPECT_EQ(free, 2);  // the dead one's too
  EXPECT_LT(watch.elapsed(), ttl + slack);
}

TEST_F(death, of_a_reader_that_loads_lets_the_next_one_load) {
  if (!can().shared) GTEST_SKIP() << no_such_lock;
  const recipes::cached cache{client, name(), store, {.lock = lock}};
  inside("cached_read")->kill();
  const stopwatch watch;
  EXPECT_EQ(cache.read("k", ours), "ours");
  EXPECT_LT(watch.elapsed(), ttl + slack);
}

TEST_F(death, of_a_writer_lets_readers_load_what_the_database_has) {
  if (!can().shared) GTEST_SKIP() << no_such_lock;
  const recipes::cached cache{client, name(), store, {.lock = lock}};
  EXPECT_EQ(cache.read("k", [](const hold&) { return fresh{"before", 10min}; }), "before");
  inside("cached_write")->kill();
  const stopwatch watch;
  EXPECT_EQ(cache.read("k", ours), "ours");
  EXPECT_LT(watch.elapsed(), ttl + slack);
}

TEST_F(death, a_reader_that_was_only_stopped_while_it_loaded_caches_nothing_old) {
  if (!can().shared) GTEST_SKIP() << no_such_lock;
  const recipes::cached cache{client, name(), store, {.lock = lock}};
  auto stopped = inside("cached_read");
  stopped->signal(SIGSTOP);
  cache.write("k", [](const hold&) {});
  EXPECT_EQ(cache.read("k", ours), "ours");
  stopped->release();
  stopped->signal(SIGCONT);
  EXPECT_EQ(stopped->line(patience), "got ours");
  EXPECT_EQ(store->find(name() + "/k")->value, "ours");
}

}  // namespace
}  // namespace contract
