#include "contract/fence/sql_cases.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace fence_contract {
namespace {

class session {
 public:
  static constexpr auto waiting =
      "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'";
  static tyer::sql_pass parameters(tyer::lock_mode mode) { return tyer::sql_pass::postgresql(1, 2, mode); }

  session() : connection_(PQconnectdb(std::getenv("TYER_URI")), PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(connection_.get()));
    run("SET client_min_messages = warning");
  }

  void run(const std::string& text) { ask(text, 0, nullptr); }
  std::int64_t number(const std::string& text) {
    const auto rows = ask(text, 0, nullptr);
    return std::stoll(PQgetvalue(rows.get(), 0, 0));
  }
  std::uint64_t affected(const std::string& text, std::uint64_t of, const std::string& by, std::string_view order) {
    const auto decimal = std::to_string(of);
    const char* values[] = {decimal.c_str(), by.c_str()};
    const auto count = order.empty() ? 0 : order.find('i') == order.npos ? 1 : 2;
    return std::stoull(PQcmdTuples(ask(text, count, values).get()));
  }

 private:
  using result = std::unique_ptr<PGresult, decltype(&PQclear)>;

  result ask(const std::string& text, int count, const char* const* values) {
    result r{PQexecParams(connection_.get(), text.c_str(), count, nullptr, values, nullptr, nullptr, 0), PQclear};
    const auto status = PQresultStatus(r.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      throw std::runtime_error(PQresultErrorMessage(r.get()));
    return r;
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(postgres, fence_contract, all_stores<session>);
INSTANTIATE_TYPED_TEST_SUITE_P(postgres, fence_with_ids, all_stores<session>);
using sessions = ::testing::Types<session>;
INSTANTIATE_TYPED_TEST_SUITE_P(postgres, two_transactions, sessions);

// At the stricter levels the database itself refuses the one that waited: an error, which is not a pass.
TEST(postgres_fence, at_repeatable_read_the_one_that_waited_gets_an_error) {
  session first, second;
  make_table(first);
  first.run("BEGIN");
  EXPECT_EQ(rows_that_let_in(first, 5), 1u);
  second.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  second.number("SELECT balance FROM guarded WHERE id = 1");  // its snapshot is from now
  first.run("COMMIT");
  EXPECT_THROW(rows_that_let_in(second, 7), std::runtime_error);
  second.run("ROLLBACK");
}

}  // namespace
}  // namespace fence_contract
