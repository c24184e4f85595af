// A wire that notes what is sent and answers when the test says so, and statements that are single words.
#pragma once

#include "engines/sql/database.hpp"
#include "engines/sql/rows.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer::sql {

struct scripted_wire final : wire {
  struct state {
    user* to = nullptr;
    int opened = 0, shut = 0;
    bool keeps_session = true;
    std::vector<std::pair<std::uint64_t, exchange>> sent;
  };
  explicit scripted_wire(state& s) : s_(s) {}
  void open(user& u) override {
    s_.to = &u;
    ++s_.opened;
  }
  void send(std::uint64_t n, exchange e) override { s_.sent.emplace_back(n, std::move(e)); }
  void shut() noexcept override { ++s_.shut; }
  bool keeps_session() const noexcept override { return s_.keeps_session; }
  state& s_;
};

// Each statement is its own name.
struct words {
  static constexpr const char *take = "take", *give_back = "give_back", *read = "read", *create = "create",
                              *write = "write", *begin_session = "begin_session", *renew_session = "renew_session",
                              *drop_session = "drop_session", *extend_seat = "extend_seat",
                              *end_sessions = "end_sessions", *how_sessions_are = "how_sessions_are", *list = "list",
                              *sweep_end = "sweep_end", *sweep_turn = "sweep_turn", *ring = "ring", *facts = "facts",
                              *schema = "schema";
  static constexpr std::array<const char*, 1> join_texts{"join"}, extend_texts{"extend"},
      extend_places_texts{"extend_places"}, sweep_texts{"sweep"}, sweep_rest_texts{"sweep_rest"},
      question_texts{"questions"};
  static constexpr std::array<const char*, 0> bell_texts{};
  static constexpr std::nullptr_t clear = nullptr, forget_bells = nullptr, collect_bells = nullptr;
  static constexpr bool reads_along = true;
};

inline const tongue scripted{
    .say = catalogue_of<words>({}),
    .bounds = [](milliseconds) { return exchange{}; },
    .what = [](const answered& a) { return a.code == "again" ? meaning::again : meaning::refused; },
    .no_tables = [](const answered& a) { return a.code == "no table"; },
    .number = [](const answered& a) -> std::optional<std::int64_t> {
      if (a.rows.empty()) return std::nullopt;
      return a.rows[0].size() == 1 ? a.rows[0][0].number : done(a.rows[0]);
    },
    .learn =
        [](const row&, server& s) {
          s.id = "a server";
          return std::string{};
        },
    .findings = [](const answers&) { return std::vector<seam::finding>{}; }};

inline cell number_cell(std::int64_t n) { return {false, n, {}}; }
inline cell bytes_cell(std::string_view b) { return {false, 0, std::string{b}}; }
inline answered rows_of(std::vector<row> all) { return {.rows = std::move(all)}; }
inline answered one_number(std::int64_t n) { return rows_of({{number_cell(n)}}); }

// Rows as rows.hpp has them.
inline row name_row(std::int64_t version, std::string state) {
  return {number_cell(0), bytes_cell("n"), number_cell(version), number_cell(0),
          number_cell(1), number_cell(0),  number_cell(0),       number_cell(0),
          cell{},         cell{},          bytes_cell(state)};
}
inline row place_row(const id& who, std::int64_t order, std::int64_t expires, std::string body) {
  return {number_cell(1), cell{},         number_cell(order),     number_cell(0), number_cell(0),  number_cell(expires),
          number_cell(0), number_cell(0), bytes_cell(who.view()), cell{},         bytes_cell(body)};
}
inline row all_row(std::int64_t places, std::int64_t now) {
  return {number_cell(3), cell{},         number_cell(places), number_cell(0), number_cell(now),
          number_cell(0), number_cell(0), number_cell(0),      cell{},         cell{},
          cell{}};
}

}  // namespace tyer::sql
