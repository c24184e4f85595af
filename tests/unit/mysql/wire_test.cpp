// Which of several servers a wire goes to.
#include "engines/mysql/wire.hpp"

#include "unit/sql/mute_hosts.hpp"

namespace tyer::mysql {
namespace {

TEST(mysql_wire, a_server_that_was_silent_was_asked_again_and_again_and_no_other) {
  test::expect_each_to_have_its_turn<wire, asio_box>(options{.hosts = {},
                                                             .user = "u",
                                                             .password = "",
                                                             .database = "d",
                                                             .encrypted = options::tls::off,
                                                             .files = {},
                                                             .texts = {}});
}

}  // namespace
}  // namespace tyer::mysql
