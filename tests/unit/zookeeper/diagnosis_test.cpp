#include "engines/zookeeper/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::zookeeper {
namespace {

said server(const std::string& name, const std::string& version, const std::string& mode) {
  return {name, "Zookeeper version: " + version +
                    "-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25 08:49 UTC\n" +
                    "Latency min/avg/max: 0/0.0/0\nMode: " + mode + "\nNode count: 5\n"};
}

int worst(const std::vector<said>& all) {
  int w = -1;
  for (const auto& f : examine(all)) w = std::max(w, f.severity);
  return w;
}

TEST(zookeeper_diagnosis, finds_nothing_wrong_with_an_ensemble_of_a_sound_version) {
  for (const char* version : {"3.8.5", "3.9.3", "3.10.0", "4.0.1"}) {
    EXPECT_TRUE(examine({server("a", version, "follower"), server("b", version, "leader")}).empty()) << version;
  }
}

TEST(zookeeper_diagnosis, names_versions_that_may_forget_what_they_confirmed) {
  for (const char* version : {"3.5.3", "3.8.0", "3.8.4", "3.9.0", "3.9.2"}) {
    EXPECT_EQ(worst({server("a", version, "leader")}), 2) << version;
  }
  EXPECT_EQ(worst({server("a", "3.4.14", "leader")}), 3) << "no containers";
}

TEST(zookeeper_diagnosis, several_servers_that_do_not_know_each_other_are_an_error) {
  EXPECT_EQ(worst({server("a", "3.9.4", "standalone"), server("b", "3.9.4", "standalone")}), 3);
  EXPECT_EQ(worst({server("a", "3.9.4", "standalone")}), 0);
}

TEST(zookeeper_diagnosis, tells_silence_from_a_refusal_to_say) {
  EXPECT_EQ(worst({{"a", ""}}), 2);
  EXPECT_EQ(worst({{"a", "srvr is not executed because it is not in the whitelist.\n"}}), 0);
}

}  // namespace
}  // namespace tyer::zookeeper
