// The fence of a row in a SQL database: pieces for your own UPDATE.
//
//   UPDATE account SET balance = 7, <set> WHERE id = 1 AND <where>
//
// - The fence is checked by the conditional UPDATE itself, or, where the transaction reads before it writes, by an
//   UPDATE that only sets the fence and is the *first* statement of that transaction: it locks the row, so what is read
//   after it stays as it is until the transaction ends. (SQLite locks the whole file: begin with BEGIN IMMEDIATE.)
// - 0 rows affected: refused (or there is no such row). Roll back.
// - MySQL and MariaDB count by default the rows that *changed*: the same hold again, with nothing else to change,
//   counts 0. Connect with CLIENT_FOUND_ROWS.
//
// Names are put into the text as they are: quote them yourself if they need it, and never take them from input. Text that is
// neither a name nor a quoted name throws std::invalid_argument.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/detail/refuse.hpp>
#include <tyer/fence_pass.hpp>
#include <tyer/lock_mode.hpp>

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tyer {
inline namespace v1 {

namespace detail {

// name or "name" or `name`, or several with dots between. This is not the grammar of any database: it only rejects text that
// could end the name and inject something else.
constexpr bool is_sql_name(std::string_view text) noexcept {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  for (std::size_t at = 0;;) {
    if (at == text.size()) return false;
    if (const char quote = text[at]; quote == '"' || quote == '`') {
      const auto end = text.find(quote, at + 1);
      if (end == std::string_view::npos || end == at + 1) return false;
      for (std::size_t i = at + 1; i < end; ++i) {
        if (text[i] == '\\' || text[i] == '\0') return false;
      }
      at = end + 1;
    } else {
      const auto begin = at;
      while (at < text.size() && plain(text[at])) ++at;
      if (at == begin) return false;
    }
    if (at == text.size()) return true;
    if (text[at++] != '.') return false;
  }
}

inline std::string sql_name(std::string_view text) {
  if (!is_sql_name(text)) refuse("not the name of a SQL column");
  return std::string{text};
}

// Not "text" + a temporary string: GCC 12 wrongly warns of that (-Wrestrict), in the user's build.
inline std::string sql_text(std::initializer_list<std::string_view> pieces) {
  std::string all;
  for (const auto piece : pieces) all.append(piece);
  return all;
}

}  // namespace detail

// How a fence_pass appears in the text of a statement. `fence.set(h.fence())` contains the values themselves, as decimal and
// hex digits, which need no quoting. For a prepared statement there are parameters:
//
//   made by            | the token                                    | the id
//   -------------------+----------------------------------------------+------------------------
//   mysql(mode)        | ?, a BIGINT whatever the driver binds        | ?
//   postgresql(n, m)   | $n                                           | $m
//   sqlite(n, m)       | ?n                                           | ?m
//
// Bind the token as a signed 64-bit number or as decimal text, and id().text() as text. Where parameters are `?`, bind one
// for each entry in the fence's table of parameters.
struct sql_pass {
  std::string token;
  std::string id;
  lock_mode mode = lock_mode::exclusive;

  sql_pass(const fence_pass& shown)  // on purpose not explicit
      : sql_pass(std::to_string(shown.token), detail::sql_text({"'", shown.id.view(), "'"}), shown.mode) {
    if (shown.token == 0 || !shown.id) detail::refuse("a pass without a token or an id");
  }

  // When a number is compared with a string, MySQL may compare both as floating point, which drops the last digits of a
  // token; hence the cast. The id has none: it is compared with the column's collation, whatever the connection's is.
  static sql_pass mysql(lock_mode mode = lock_mode::exclusive) { return {"CAST(? AS SIGNED)", "?", mode}; }
  static sql_pass postgresql(unsigned token, unsigned id, lock_mode mode = lock_mode::exclusive) {
    return {detail::sql_text({"CAST($", std::to_string(token), " AS BIGINT)"}),
            detail::sql_text({"CAST($", std::to_string(id), " AS TEXT)"}), mode};
  }
  static sql_pass sqlite(unsigned token, unsigned id, lock_mode mode = lock_mode::exclusive) {
    return {detail::sql_text({"CAST(?", std::to_string(token), " AS INTEGER)"}),
            detail::sql_text({"?", std::to_string(id)}), mode};
  }

 private:
  sql_pass(std::string t, std::string i, lock_mode m) : token(std::move(t)), id(std::move(i)), mode(m) {}
};

// A row that only exclusive holders write, or one of a semaphore's slots: two columns, BIGINT (NULL or 0 to begin with) and
// VARCHAR(34) (NULL). A shared pass throws std::invalid_argument.
//
//   piece | parameters
//   ------+-------------------
//   set   | token, id
//   where | token, token, id
class sql_fence {
 public:
  sql_fence(std::string_view token, std::string_view id) : token_(detail::sql_name(token)), by_(detail::sql_name(id)) {}

  [[nodiscard]] std::string set(const sql_pass& shown) const {
    refuse_readers(shown);
    return token_ + " = " + shown.token + ", " + by_ + " = " + shown.id;
  }
  [[nodiscard]] std::string where(const sql_pass& shown) const {
    refuse_readers(shown);
    return "(" + token_ + " IS NULL OR " + token_ + " < " + shown.token + " OR (" + token_ + " = " + shown.token +
           " AND " + by_ + " = " + shown.id + "))";
  }

 private:
  static void refuse_readers(const sql_pass& shown) {
    if (shown.mode == lock_mode::shared) detail::refuse("a row that readers use needs a sql_shared_fence");
  }

  std::string token_;
  std::string by_;
};

// A row that shared holders use too: three columns, BIGINT, BIGINT and VARCHAR(34), and otherwise as sql_fence. A shared pass
// needs no id, so there is no parameter for it.
//
//   piece | parameters: exclusive | shared
//   ------+-----------------------+---------------
//   set   | token, token, id      | token, token
//   where | token, token, id      | token
class sql_shared_fence {
 public:
  sql_shared_fence(std::string_view max_exclusive, std::string_view max_any, std::string_view exclusive_by)
      : exclusive_(detail::sql_name(max_exclusive)),
        any_(detail::sql_name(max_any)),
        by_(detail::sql_name(exclusive_by)) {}

  [[nodiscard]] std::string set(const sql_pass& shown) const {
    if (shown.mode == lock_mode::shared) {
      return any_ + " = CASE WHEN " + any_ + " > " + shown.token + " THEN " + any_ + " ELSE " + shown.token + " END";
    }
    return exclusive_ + " = " + shown.token + ", " + any_ + " = " + shown.token + ", " + by_ + " = " + shown.id;
  }
  [[nodiscard]] std::string where(const sql_pass& shown) const {
    if (shown.mode == lock_mode::shared) {
      return "(" + exclusive_ + " IS NULL OR " + exclusive_ + " < " + shown.token + ")";
    }
    return "(" + any_ + " IS NULL OR " + any_ + " < " + shown.token + " OR (" + any_ + " = " + shown.token + " AND " +
           exclusive_ + " = " + any_ + " AND " + by_ + " = " + shown.id + "))";
  }

 private:
  std::string exclusive_;
  std::string any_;
  std::string by_;
};

}  // namespace v1
}  // namespace tyer
