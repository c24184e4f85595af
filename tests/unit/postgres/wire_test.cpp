// Which of several servers a wire goes to.
#include "engines/postgres/wire.hpp"

#include "unit/sql/mute_hosts.hpp"

namespace tyer::postgres {
namespace {

TEST(postgres_wire, a_server_that_was_silent_was_asked_again_and_again_and_no_other) {
  test::expect_each_to_have_its_turn<wire, poll_box>(options{
      .hosts = {}, .words = {{"sslmode", "disable"}, {"gssencmode", "disable"}, {"user", "u"}, {"dbname", "d"}}});
}

}  // namespace
}  // namespace tyer::postgres
