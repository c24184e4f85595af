// SQLite has no server, and one writer at a time: what two transactions do is its own affair.
#include "contract/fence/sql_cases.hpp"

#include <sqlite3.h>

#include <memory>
#include <stdexcept>

namespace fence_contract {
namespace {

// How a driver may bind a token.
enum class binding { number, text };

template <binding How>
class session {
 public:
  static tyer::sql_pass parameters(tyer::lock_mode mode) { return tyer::sql_pass::sqlite(1, 2, mode); }

  session() : connection_(open(), sqlite3_close) {}

  void run(const std::string& text) {
    require(sqlite3_exec(connection_.get(), text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  }

  std::uint64_t affected(const std::string& text, std::uint64_t of, const std::string& by, std::string_view order) {
    sqlite3_stmt* made = nullptr;
    require(sqlite3_prepare_v2(connection_.get(), text.c_str(), -1, &made, nullptr) == SQLITE_OK);
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)> statement{made, sqlite3_finalize};
    const auto decimal = std::to_string(of);
    if (!order.empty()) {
      require((How == binding::number ? sqlite3_bind_int64(made, 1, static_cast<std::int64_t>(of))
                                      : sqlite3_bind_text(made, 1, decimal.c_str(), -1, SQLITE_STATIC)) == SQLITE_OK);
    }
    if (order.find('i') != order.npos) {
      require(sqlite3_bind_text(made, 2, by.c_str(), -1, SQLITE_STATIC) == SQLITE_OK);
    }
    require(sqlite3_step(made) == SQLITE_DONE);
    return static_cast<std::uint64_t>(sqlite3_changes(connection_.get()));
  }

 private:
  static sqlite3* open() {
    sqlite3* made = nullptr;
    if (sqlite3_open(":memory:", &made) != SQLITE_OK) throw std::runtime_error("no SQLite");
    return made;
  }
  void require(bool fine) {
    if (!fine) throw std::runtime_error(sqlite3_errmsg(connection_.get()));
  }

  std::unique_ptr<sqlite3, decltype(&sqlite3_close)> connection_;
};

using all = all_stores<session<binding::number>, session<binding::text>>;
INSTANTIATE_TYPED_TEST_SUITE_P(sqlite, fence_contract, all);
INSTANTIATE_TYPED_TEST_SUITE_P(sqlite, fence_with_ids, all);

}  // namespace
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(two_transactions);
}  // namespace fence_contract
