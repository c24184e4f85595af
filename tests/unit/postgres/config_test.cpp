// What a URI becomes for libpq.
#include "engines/postgres/config.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tyer::postgres {
namespace {

using word = std::pair<std::string, std::string>;

// Whose thread is the client's: with tickets of the user's at hand, a Kerberos server that is away would have held up all renewals.
TEST(postgres_config, libpq_asked_a_kerberos_server_before_it_connected) {
  auto u = core::parse_uri("postgres://me@db.example/locks");
  ASSERT_FALSE(u.error);
  const auto c = read(u.value);
  ASSERT_FALSE(c.error);
  EXPECT_EQ(std::ranges::count(c.connect.words, word{"gssencmode", "disable"}), 1);
}

}  // namespace
}  // namespace tyer::postgres
