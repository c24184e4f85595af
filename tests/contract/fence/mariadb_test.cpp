#include "contract/fence/sql_cases.hpp"
#include "core/uri.hpp"

#include <mysql.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace fence_contract {
namespace {

// How a driver may bind a token.
enum class binding { number, text };

template <binding How, unsigned long Flags = CLIENT_FOUND_ROWS>
class session {
 public:
  // Not innodb_trx: whoever asks it more often than every 100 ms sees the same old copy each time.
  static constexpr auto waiting =
      "SELECT variable_value FROM information_schema.global_status WHERE variable_name = "
      "'innodb_row_lock_current_waits'";
  static tyer::sql_pass parameters(tyer::lock_mode mode) { return tyer::sql_pass::mysql(mode); }

  session() : connection_(mysql_init(nullptr), mysql_close) {
    const auto to = tyer::core::parse_uri(std::getenv("TYER_URI")).value;
    const auto& host = to.hosts.at(0);
    require(mysql_real_connect(connection_.get(), host.host.c_str(), to.user.c_str(), to.password.c_str(),
                               to.path.c_str(), host.port, nullptr, Flags) != nullptr);
  }

  void run(const std::string& text) { require(mysql_query(connection_.get(), text.c_str()) == 0); }

  std::int64_t number(const std::string& text) {
    run(text);
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> rows{mysql_store_result(connection_.get()),
                                                                        mysql_free_result};
    const auto row = mysql_fetch_row(rows.get());
    return std::stoll(row[0]);
  }

  std::uint64_t affected(const std::string& text, std::uint64_t of, std::string by, std::string_view order) {
    const std::unique_ptr<MYSQL_STMT, decltype(&mysql_stmt_close)> statement{mysql_stmt_init(connection_.get()),
                                                                             mysql_stmt_close};
    require(mysql_stmt_prepare(statement.get(), text.data(), text.size()) == 0);
    auto number = static_cast<std::int64_t>(of);
    auto decimal = std::to_string(of);
    MYSQL_BIND bind{};
    bind.buffer_type = How == binding::number ? MYSQL_TYPE_LONGLONG : MYSQL_TYPE_STRING;
    bind.buffer = How == binding::number ? static_cast<void*>(&number) : decimal.data();
    bind.buffer_length = decimal.size();
    MYSQL_BIND bind_id{};
    bind_id.buffer_type = MYSQL_TYPE_STRING;
    bind_id.buffer = by.data();
    bind_id.buffer_length = by.size();
    if (mysql_stmt_param_count(statement.get()) != order.size()) throw std::logic_error("another number of parameters");
    std::vector<MYSQL_BIND> all;
    for (const char which : order) all.push_back(which == 't' ? bind : bind_id);
    require(mysql_stmt_bind_param(statement.get(), all.data()) == 0);
    if (mysql_stmt_execute(statement.get()) != 0) throw std::runtime_error(mysql_stmt_error(statement.get()));
    return mysql_stmt_affected_rows(statement.get());
  }

 private:
  void require(bool fine) {
    if (!fine) throw std::runtime_error(mysql_error(connection_.get()));
  }

  std::unique_ptr<MYSQL, decltype(&mysql_close)> connection_;
};

using by_number = session<binding::number>;
using by_text = session<binding::text>;

using all = all_stores<by_number, by_text>;
INSTANTIATE_TYPED_TEST_SUITE_P(mariadb, fence_contract, all);
INSTANTIATE_TYPED_TEST_SUITE_P(mariadb, fence_with_ids, all);
using sessions = ::testing::Types<by_number>;
INSTANTIATE_TYPED_TEST_SUITE_P(mariadb, two_transactions, sessions);

// Why the flag is asked for. If this fails one day, so much the better: take the sentence out of the documents.
TEST(mariadb_fence, without_found_rows_the_same_token_counts_no_row) {
  session<binding::number, 0> s;
  make_table(s);
  EXPECT_EQ(rows_that_let_in(s, 5), 1u);
  EXPECT_EQ(rows_that_let_in(s, 5), 0u);
}

// The column decides how ids are compared, not the connection: no "illegal mix of collations".
TEST(mariadb_fence, the_id_column_may_have_a_collation_of_its_own) {
  of_writers<by_number, shown_by::parameters> store;
  by_number s;
  const auto id = tyer::hold_id::from(std::string(34, 'a'));
  for (const auto* kind : {"CHARACTER SET latin1 COLLATE latin1_bin",
                           "CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci", "CHARACTER SET ascii"}) {
    s.run(std::string{"ALTER TABLE guarded MODIFY fence_by VARCHAR(34) "} + kind);
    store.fresh();
    EXPECT_TRUE(store.enter({5, id})) << kind;
    EXPECT_TRUE(store.enter({5, id})) << kind;
    EXPECT_FALSE(store.enter({5, tyer::hold_id::from(std::string(34, 'b'))})) << kind;
  }
}

}  // namespace
}  // namespace fence_contract
