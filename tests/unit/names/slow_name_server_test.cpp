// The end of a client does not wait for a name server.
#include "unit/names/name_server.hpp"
#include "unit/names/threads.hpp"

#include <tyer/tyer.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace tyer::test {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class slow_name_server : public ::testing::TestWithParam<const char*> {};

void live_and_end(const char* uri) {
  name_server::answer(false);
  {
    client c{uri};
    const auto asked = clock::now() + 20s;
    while (name_server::asked() == 0 && clock::now() < asked) std::this_thread::sleep_for(1ms);
    ASSERT_GT(name_server::asked(), 0);
    failure why;
    const auto began = clock::now();
    const hold h = mutex{c, "order"}.try_acquire(why);
    EXPECT_EQ(why.code, errc::unavailable);
    c.close(100ms);
    EXPECT_LT(clock::now() - began, 10s);
  }  // nothing here may take a minute
  name_server::answer(true);
}

TEST_P(slow_name_server, does_not_hold_up_the_end_of_a_client) {
  const int before = threads_at_least();
  live_and_end(GetParam());
  // What was left running ends with the answer.
  for (const auto end = clock::now() + 20s; threads() > before && clock::now() < end;) std::this_thread::sleep_for(1ms);
  EXPECT_LE(threads(), before);
}

INSTANTIATE_TEST_SUITE_P(of, slow_name_server,
                         ::testing::Values("redis://lock.example:6379",
                                           "redis+sentinel://a.example:26379,b.example:26379/main",
                                           "redis+cluster://a.example:6379,b.example:6379",
                                           "redlock://a.example:6379,b.example:6379,c.example:6379",
                                           "redis://lock.example:6379?protocol=redisson"));
#ifdef TYER_TEST_ETCD
INSTANTIATE_TEST_SUITE_P(of_etcd, slow_name_server, ::testing::Values("etcd://a.example:2379,b.example:2379"));
#endif
#ifdef TYER_TEST_ZOOKEEPER
INSTANTIATE_TEST_SUITE_P(of_zookeeper, slow_name_server, ::testing::Values("zk://a.example:2181,b.example:2181"));
#endif
#ifdef TYER_TEST_POSTGRES
INSTANTIATE_TEST_SUITE_P(of_postgres, slow_name_server, ::testing::Values("postgres://somebody@a.example:5432/locks"));
#endif
#ifdef TYER_TEST_MYSQL
INSTANTIATE_TEST_SUITE_P(of_mysql, slow_name_server, ::testing::Values("mysql://somebody@a.example:3306/locks"));
#endif

}  // namespace
}  // namespace tyer::test
