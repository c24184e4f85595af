// The engine of a database, whatever its dialect: locks as rows (docs/adr/0015-sql.md).
//
// acquire, release, convert … are carried out by kit::settle: settling.cpp. Renewal is by sessions: keeping.cpp. Everything is in one
// thread, on one connection.
#pragma once

#include "engines/kit/lease_pool.hpp"
#include "engines/kit/settle.hpp"
#include "engines/sql/frame.hpp"

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tyer::sql {

using kit::mode;
using kit::request;

constexpr std::uint32_t head = 4,
                        whole_queue = std::numeric_limits<std::int32_t>::max();  // places that are read with a name

class database final : public frame {
 public:
  database(const seam::environment&, parts, std::uint32_t waiters_max);
  ~database() override;

  seam::capabilities can() const noexcept override;

 private:
  // One thing to be settled at a name.
  struct work {
    std::string name;
    id who;
    core::function<exchange()> attempt;  // the blind first move, if there is one
    core::function<bool(const answers&)> attempted;
    core::function<void(work&)> done;
    core::function<void(const failure&)> failed;
    core::function<bool()> given_up;  // nobody waits for it any more, and what follows may be on its way already
    std::vector<id> keeps;            // holds that live by a session of this client's, if they are written
    milliseconds lives_for{};         // the session's length
    milliseconds place_ttl{};         // of its place
    bool made_place = false;
    bool lined_up = false;  // by the attempt: the place is there
    time_point proof{};     // when that left whose answer decides: the attempt, or what was read last
    time_point deadline;
    milliseconds patience = milliseconds::max();  // with a server that is silent
    urgency when = urgency::soon;

    record seen;
    std::optional<kit::settle> machine;
  };
  using work_ptr = std::shared_ptr<work>;
  static bool is_given_up(work& w) { return w.given_up && w.given_up(); }

  // One keep() until all of it is known.
  struct keeping {
    call_ptr<seam::kept> call;
    std::vector<named> all;
    std::vector<fate> fates;
    fate as = fate::holding;
    milliseconds ttl{}, proven{};
    time_point since{}, patient_until{};   // what left earlier proves nothing
    time_point proof = time_point::max();  // when the earliest left that proves any of it
    bool impatient = false;                // what is known is told
    std::size_t open = 0;
    std::optional<failure> wrong;  // with one whose fate is not known
  };
  using keeping_ptr = std::shared_ptr<keeping>;
  using indices = std::vector<std::size_t>;
  struct renewal {
    keeping_ptr of;
    indices which;
  };
  struct listener {
    keeping_ptr of;
    std::size_t which;
  };

  struct own {
    std::string name;
    std::int64_t session = 0;  // that it is known to live by
    bool plain = true;         // lies in columns, as far as is known
    bool doubtful = false;     // a release or eviction was sent: no renewal of a session says that it is held
    bool was_queued = false;   // so others may wait behind it
    std::optional<seat_head> head = std::nullopt;  // as it lies if it is not plain, as far as is known
  };
  struct own_session {
    std::int64_t generation = 0;
  };

  // --- what the base asks (calling.cpp)
  void do_acquire(const request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const seam::target>, fate as, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_confirm(const seam::target&, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_release(const seam::target&, bool clean, const call_ptr<fate>&) override;
  void do_convert(const seam::target&, mode to, milliseconds not_after, const call_ptr<answer>&) override;
  void do_lift(const seam::target&, std::uint64_t part, const call_ptr<fate>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const seam::target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<seam::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<seam::page>&) override;
  void do_close() override;
  time_point next_due() const override;
  void on_time(time_point) override;
  void start_anew() override;

  template <class T, class Decide, class Done>
  void settle_in_turn(const call_ptr<T>&, const seam::target&, Decide, Done);
  void note(work&, const answer&);
  urgency of_asking(const id&) const;
  void has_its_turn(kit::call&, const id&);
  void note_crowd(work&);
  bool is_crowded(const std::string& name);
  void line_up_first(work&, const request&);
  static void learn(work&, const id&, own&);
  void doubt(const id&);
  void forget(const id&);

  // --- settling.cpp
  void start(const work_ptr&, kit::settle::task);
  void obey(const work_ptr&, kit::settle::order);
  void inquire(const work_ptr&, std::uint32_t number, exchange, core::function<kit::settle::order(answers&&)>);
  void read(const work_ptr&, std::uint32_t number, bool all);
  void write(const work_ptr&, std::uint32_t number);
  void join(const work_ptr&, std::uint32_t number);
  void end_sessions(const std::vector<std::int64_t>&, time_point deadline, core::function<void(const failure*)>);
  kit::settle::order joined(const work_ptr&, std::uint32_t number, record);
  void read_joined(const work_ptr&, std::uint32_t number);
  std::optional<kit::view> see(const work_ptr&, std::optional<record>);
  void finish(const work_ptr&);
  void fail(const work_ptr&);
  void tell(const kit::notices&);
  void hear(const bell&);
  void reap(const std::string& name, urgency);
  void reaped(const std::string& name);

  // --- keeping.cpp
  void keep_since(time_point, std::span<const seam::target>, fate as, milliseconds ttl, const call_ptr<seam::kept>&);
  void flush_keeps();
  void keep_holds(const keeping_ptr&, const indices&);
  void keep_places(const keeping_ptr&);
  void renew(const keeping_ptr&, std::int64_t session, indices);
  void extend(const keeping_ptr&, indices);
  void extend_seats(const keeping_ptr&, indices);
  void seats_extended(const keeping_ptr&, const indices&, std::int64_t session, const answers&, time_point sent);
  void decide(const keeping_ptr&, const indices&);
  void keep_name(const keeping_ptr&, indices);
  void is_alone(const id&);
  void is_known(const id&, fate);
  static void lives_by(own& o, std::int64_t session) { o.session = o.doubtful ? 0 : session; }
  bool is_own(std::int64_t session) const;
  static void proven(const keeping_ptr&, time_point sent, milliseconds ttl);
  void settled(const keeping_ptr&, std::size_t, fate);
  void unsettled(const keeping_ptr&, std::size_t how_many, const failure&);
  void answer_kept(const keeping_ptr&);
  void answer_in_time(time_point);
  time_point next_answer() const;
  std::int64_t session_for(milliseconds ttl);
  void carry_out(kit::lease_pool::output&);
  void renewed(std::uint32_t number, std::int64_t session, milliseconds ttl, link::said&&);
  void on_kept(const kit::lease_pool::news&);
  void detach(std::int64_t session);
  void know_again(std::int64_t session);

  // --- database.cpp
  exchange greeting() override;
  std::optional<failure> greeted(const answers&) override;
  void on_up() override;
  void on_down(const failure&) override;
  void on_rung(std::string payload) override;
  void on_stale(const std::string& name) override { reap(name, urgency::some_time); }
  void on_bells(time_point);
  void look_at(const std::vector<bell>&);
  void forget_bells();
  milliseconds bell_interval() const;
  milliseconds without_bell() const;

  // --- listing.cpp
  template <class Names>
  void show_all(const call_ptr<seam::page>&, std::shared_ptr<Names>, std::string cursor);

  kit::limits limits_;
  std::string server_was_;
  bool said_pooled_ = false;
  sessions known_;

  std::unordered_map<id, own, core::id_hash> own_;  // holds
  std::set<id> waiting_;                            // places and upgrades
  std::set<id> called_;                             // whose turn has come, as they were told; until they are answered
  std::map<std::string, bool> reaping_;             // names that are looked at, and whether once more after that
  std::map<std::string, time_point> crowded_;       // names that somebody had when this client had let go of them: when

  kit::lease_pool pool_;
  std::map<std::int64_t, own_session> sessions_;
  std::vector<std::int64_t> own_sessions_;          // live, or made lately: to know them again
  std::vector<keeping_ptr> keeps_;                  // to be sent
  std::vector<keeping_ptr> slow_;                   // of several, under way
  std::map<id, std::vector<listener>> kept_alone_;  // where they lie or by the decider, under way; who else asks
  std::map<std::uint64_t, renewal> renewing_;
  std::uint64_t last_user_ = 0;

  time_point last_bell_{};  // or since when there could be one
  time_point bells_due_ = time_point::max();
  milliseconds apart_{0}, usual_{0};  // the last two bells; the smaller distance of the last three
  std::set<std::int64_t> heard_;      // bells that lie there still
  bool looking_for_bells_ = false, was_idle_ = true;
};

}  // namespace tyer::sql
