// What is said to a database: the statements, each with what it does to the tables. Both kinds of database have the same tables, take
// the same values and are read by the same functions (rows.hpp).
//
// No statement holds a row lock when it has been answered. Time is the server's, in microseconds since 1970.
#pragma once

#include "engines/sql/record.hpp"
#include "engines/sql/seats.hpp"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::sql {

struct named {
  id who;
  std::string name;
};

// Tells a client something of one of its ids.
struct bell {
  id who;
  kit::notice::kind what = kit::notice::kind::wake;
  std::string reason;
  std::int64_t number = 0;  // where bells lie until they are looked for
};

struct server {
  std::string id, version;
  std::chrono::microseconds clock{};
  bool rings = true;  // bells come by themselves; else they are asked for
};

// The texts. Where there are several, they leave together in this order, each with the same values. A null text is not said.
struct catalogue {
  using several = std::span<const char* const>;

  const char *take, *give_back, *read, *create;
  several join;
  const char* write;
  const char* clear;  // places that the write has marked
  const char *begin_session, *renew_session, *drop_session, *end_sessions, *how_sessions_are;
  several extend;
  const char* extend_seat;
  several extend_places;
  const char *list, *ring;
  several look_for_bells;
  const char* forget_bells;
  const char*
      collect_bells;      // for a while from now on, since this client does not hear them; null: they lie there anyway
  const char* sweep_end;  // the last of the next thousand names
  several sweep, sweep_rest;
  const char* sweep_turn;  // of all clients one sweeps
  several questions;       // of the doctor
  const char *facts, *schema;
  several ddl;
  bool reads_along;  // the answer of the last join text, and of a take or give_back in vain, is a reading
};

// Of the texts that are members of S.
template <class S>
constexpr catalogue catalogue_of(catalogue::several ddl) {
  return {S::take,
          S::give_back,
          S::read,
          S::create,
          S::join_texts,
          S::write,
          S::clear,
          S::begin_session,
          S::renew_session,
          S::drop_session,
          S::end_sessions,
          S::how_sessions_are,
          S::extend_texts,
          S::extend_seat,
          S::extend_places_texts,
          S::list,
          S::ring,
          S::bell_texts,
          S::forget_bells,
          S::collect_bells,
          S::sweep_end,
          S::sweep_texts,
          S::sweep_rest_texts,
          S::sweep_turn,
          S::question_texts,
          S::facts,
          S::schema,
          ddl,
          S::reads_along};
}

// One kind of database: its texts, and the little that no text can say.
struct tongue {
  catalogue say;
  const char* listen = nullptr;  // said to a new connection, with the client behind it in hexadecimal digits
  exchange (*bounds)(milliseconds request_timeout);  // said before that; nobody reads the answers
  meaning (*what)(const answered& error);
  bool (*no_tables)(const answered& error);  // yet
  // What a statement that writes a row says of it; nothing: it wrote none.
  std::optional<std::int64_t> (*number)(const answered&);
  // The rest of the facts: the server's name, whether it rings, and what is wrong with it.
  std::string (*learn)(const row& facts, server&);
  std::vector<seam::finding> (*findings)(const answers&);
  // What it costs that a pooler is in between, and what to do.
  const char *pooled = nullptr, *pooled_advice = nullptr;
};

class dialect {
 public:
  struct setting {
    std::uint64_t nonce;
    milliseconds request_timeout;
    bool make_tables = false;  // if there are none
  };
  dialect(const setting&, const tongue&);

  exchange greeting(bool keeps_session) const;
  std::optional<failure> greeted(const answers&, server&) const;  // what is wrong with it
  meaning what(const answered& error) const { return of_.what(error); }

  // A free name, or the own hold once more, or the claim: one statement.
  // A dialect may answer this and give_back() with a reading, if it was not done: beside().
  exchange take(std::string_view name, const id&, milliseconds ttl, std::uint64_t above, std::string_view owner,
                std::uint32_t places) const;
  std::optional<std::uint64_t> taken(const answers&) const;  // the part; nothing: it is not free
  // The own plain hold of a name that nobody waits for.
  exchange give_back(std::string_view name, const id&, const std::vector<std::int64_t>& own_sessions,
                     std::uint32_t places) const;
  bool given_back(const answers& a) const { return number(a.back()).has_value(); }

  // Ends with a read: reading().
  exchange read(std::string_view name, const id& own, std::uint32_t places) const;
  exchange join(std::string_view name, const place&, milliseconds ttl, std::uint32_t places) const;
  exchange write(const change&) const;
  std::optional<std::uint64_t> written(const answers&) const;  // joins; nothing: another was quicker

  exchange begin_session(std::int64_t, milliseconds ttl) const;
  exchange renew_session(std::int64_t, milliseconds ttl) const;
  std::optional<std::int64_t> renewed(const answers& a) const { return number(a.back()); }  // nothing: it was ended
  exchange drop_session(std::int64_t) const;
  // Ends those that are over, then says how each is: session, expires, ended.
  exchange end_sessions(const std::vector<std::int64_t>&) const;

  // Extends plain holds whose own time is not over, and which live by no session of another; with a session they live by that from
  // now on. Answers whose.
  exchange extend(std::int64_t session, const std::vector<std::int64_t>& own_sessions, milliseconds ttl,
                  std::span<const named>) const;
  // Extends holds that are not plain, all of one name, each where it lies and by a statement of its own: if it is as it was, and its
  // own time is not over. With a session they live by that from now on.
  exchange extend_seats(std::string_view name, std::int64_t session, milliseconds ttl,
                        std::span<const seat_head>) const;
  std::optional<store_time> seat_extended(
      const answered&) const;  // until when; nothing: it is not as it was, or not known

  // Extends places. Answers: whose, its name, and whether something of that name is over.
  exchange extend_places(milliseconds ttl, std::span<const named>) const;

  // Names from `from` up to before `to`: as read() tells of each, and of their places.
  exchange list(std::string_view from, std::string_view to, std::uint32_t names) const;

  exchange ring(std::span<const bell>) const;
  exchange look_for_bells() const;  // if the server does not ring
  exchange forget_bells(const std::set<std::int64_t>&) const;
  exchange collect_bells() const;  // said now and then by whom a pooler keeps from hearing them
  // What it costs that a pooler is in between; null: nothing is known of that.
  const char* pooled() const noexcept { return of_.pooled; }
  bool reads_along() const noexcept { return say_.reads_along; }
  static std::vector<bell> bells(const answers&);

  // Removes what nobody has used for so long, of the next thousand names; ends with those whose queues and holders nobody has
  // looked at. What one of the statements could not do is left to the next sweep.
  exchange sweep(milliseconds unused, std::string_view behind) const;
  static std::optional<std::string> swept_to(const answers&);  // nothing: to the end
  exchange sweep_rest(milliseconds unused) const;              // what is of no name
  // Whether this client sweeps for all, for so long.
  exchange sweep_turn(milliseconds) const;
  bool is_turn(const answers& a) const { return number(a.back()).has_value(); }
  exchange questions() const;  // of the doctor
  std::vector<seam::finding> findings(const answers&, bool keeps_session) const;

 private:
  std::optional<std::int64_t> number(const answered& a) const { return of_.number(a); }
  std::string client() const;  // the first half of its ids
  failure without_tables() const;

  const setting setting_;
  const tongue& of_;
  const catalogue& say_;
  const std::string listen_;
  mutable bool no_tables_ = false;  // as the last greeting told: the next makes them
};

}  // namespace tyer::sql
