// What the doctor says about an etcd.
#include "engines/etcd/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::etcd {
namespace {

pb::StatusResponse healthy(const char* version) {
  pb::StatusResponse s;
  s.set_version(version);
  s.set_leader(1);
  return s;
}

TEST(etcd_diagnosis, a_good_version_is_not_mentioned) {
  for (const char* version : {"3.4.42", "3.5.28", "3.6.9", "3.7.0"})
    EXPECT_TRUE(examine(healthy(version)).empty()) << version;
}

TEST(etcd_diagnosis, a_version_with_known_bugs_is_named_with_what_to_do) {
  const auto found = examine(healthy("3.5.12"));
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NE(found[0].what.find("3.5.12"), std::string::npos);
  EXPECT_NE(found[0].advice.find("3.5.14"), std::string::npos);
  EXPECT_EQ(examine(healthy("3.5.27")).size(), 1u);
  EXPECT_EQ(examine(healthy("3.3.0")).size(), 4u);
}

TEST(etcd_diagnosis, alarms_a_missing_leader_and_a_full_database_are_told) {
  auto s = healthy("3.6.9");
  s.set_leader(0);
  s.add_errors("memberID:1 alarm:NOSPACE ");
  s.set_db_size(std::int64_t{1900} << 20);
  const auto found = examine(s);
  EXPECT_EQ(found.size(), 3u);
  EXPECT_TRUE(std::ranges::any_of(found, [](const auto& f) { return f.advice.find("alarm disarm") != f.advice.npos; }));
}

}  // namespace
}  // namespace tyer::etcd
