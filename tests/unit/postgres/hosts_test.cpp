#include "engines/postgres/hosts.hpp"

#include "engines/postgres/poll_box.hpp"
#include "unit/names/name_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace tyer::postgres {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
namespace name_server = test::name_server;

struct postgres_hosts : ::testing::Test {
  postgres_hosts() { name_server::answer(true); }
  ~postgres_hosts() override { name_server::answer(true); }

  void look_up(hosts& of) {
    answer.reset();
    of.look_up([this](hosts::known k) { answer = std::move(k); });
    EXPECT_FALSE(answer);  // not inside the call
  }
  void run_for(std::chrono::milliseconds t) {
    for (const auto end = clock::now() + t; !answer && clock::now() < end;) {
      for (auto& d : box->take(clock::now() + 10ms)) d(nullptr);
    }
  }
  hosts::known wait() {
    run_for(20s);
    return answer.value_or(hosts::known{});
  }

  std::shared_ptr<poll_box> box = std::make_shared<poll_box>();
  std::optional<hosts::known> answer;
};

TEST_F(postgres_hosts, addresses_and_paths_are_asked_of_nobody) {
  name_server::answer(false);
  hosts h{{{"10.1.2.3", 5432}, {"::1", 5433}, {"/run/postgresql", 5434}}, box};
  look_up(h);
  const auto k = wait();
  EXPECT_EQ(k.host, "10.1.2.3,::1,/run/postgresql");
  EXPECT_EQ(k.hostaddr, "10.1.2.3,::1,");
  EXPECT_EQ(k.port, "5432,5433,5434");
  EXPECT_EQ(name_server::asked(), 0);
}

TEST_F(postgres_hosts, a_name_is_there_once_for_each_of_its_addresses_and_is_what_a_certificate_must_show) {
  name_server::know("db.example", {"::1", "127.0.0.2"});
  hosts h{{{"db.example", 5432}, {"127.0.0.3", 6000}}, box};
  look_up(h);
  const auto k = wait();
  EXPECT_EQ(k.host, "db.example,db.example,127.0.0.3");
  EXPECT_EQ(k.hostaddr, "::1,127.0.0.2,127.0.0.3");
  EXPECT_EQ(k.port, "5432,5432,6000");
}

TEST_F(postgres_hosts, a_name_that_is_not_found_is_said_and_keeps_nobody_from_the_others) {
  name_server::know("db.example", {"127.0.0.2"});
  hosts none{{{"nobody.example", 5432}}, box};
  look_up(none);
  const auto k = wait();
  EXPECT_EQ(k.host, "");
  EXPECT_NE(k.why_not.find("nobody.example"), std::string::npos);
  hosts one{{{"nobody.example", 5432}, {"db.example", 5432}}, box};
  look_up(one);
  EXPECT_EQ(wait().hostaddr, "127.0.0.2");
}

TEST_F(postgres_hosts, an_address_that_was_silent_came_first_again_and_again) {
  hosts h{{{"127.0.0.2", 5432}, {"127.0.0.3", 6000}}, box};
  for (const char* expected : {"127.0.0.2,127.0.0.3", "127.0.0.3,127.0.0.2", "127.0.0.2,127.0.0.3"}) {
    look_up(h);
    EXPECT_EQ(wait().hostaddr, expected);
    h.pass_on();
  }
}

// libpq would have stood still for as long as that.
TEST_F(postgres_hosts, a_name_server_that_is_silent_holds_up_an_address_for_one_round) {
  name_server::answer(false);
  hosts h{{{"silent.example", 5432}, {"127.0.0.3", 6000}}, box};
  look_up(h);
  run_for(100ms);
  EXPECT_FALSE(answer);
  look_up(h);  // given up, and tried again
  EXPECT_EQ(wait().hostaddr, "127.0.0.3");
  look_up(h);  // and so it stays
  EXPECT_EQ(wait().hostaddr, "127.0.0.3");
}

TEST_F(postgres_hosts, who_has_forgotten_it_is_not_told) {
  name_server::know("db.example", {"127.0.0.2"});
  {
    hosts h{{{"db.example", 5432}}, box};
    look_up(h);
  }
  run_for(100ms);
  EXPECT_FALSE(answer);
}

}  // namespace
}  // namespace tyer::postgres
