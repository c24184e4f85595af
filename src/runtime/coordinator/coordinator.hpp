// Turns acquisitions into holds: the one path through a client, driven by one thread at a time.
//
//   acquisition → lane (local queue) → ticket (lease machines) → engine → grant → hold → keeper → release
//
// The coordinator has no thread, socket or clock of its own: it gets an engine and a clock, and its driver tells it when to
// check the time. Production drives it from a thread (client_runtime.hpp); the simulation drives the very same code on
// virtual time.
//
// When memory is exhausted: a call that needs memory is undone and answered with std::errc::not_enough_memory. Work for
// other calls (a request, a renewal) is retried soon. A hold that cannot be renewed because of that is lost at its
// deadline.
//
// Thread safety: none, except that callbacks of the engine lock the mutex that it was given, if there is one.
// Callbacks (acquisition::done, release_reply) run inside the calls and must not block; they may call back.
#pragma once

#include "core/clock.hpp"
#include "core/id.hpp"
#include "engine/engine.hpp"
#include "lease/keeper.hpp"
#include "lease/list.hpp"
#include "runtime/acquisition.hpp"
#include "runtime/agenda.hpp"
#include "runtime/clock_look.hpp"
#include "runtime/event.hpp"
#include "runtime/floors.hpp"
#include "runtime/observer.hpp"
#include "runtime/presence.hpp"
#include "runtime/query.hpp"
#include "runtime/ticket.hpp"
#include "stats/board.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace tyer::runtime {

// Requests lost() in time, whatever the coordinator is doing.
class watcher {
 public:
  virtual void guard(const hold_ptr&) = 0;          // from now on, before the caller gets the hold
  virtual void tell(const hold_ptr&) noexcept = 0;  // it was ended as lost: run its callbacks soon
  virtual void ask(const hold_ptr&) noexcept = 0;   // somebody wants it back: run the callbacks of revoked() soon

 protected:
  ~watcher() = default;
};

struct limits {
  std::chrono::milliseconds request_timeout{2000};
  std::chrono::milliseconds unavailable_after{30000};
  std::size_t acquisitions_max = 1'000'000;  // waiting callers in one client
  // For one group of names. More requests wait in the coordinator, so that a flood of them delays no renewal.
  std::size_t asks_in_flight_max = 1024;
  // Requests sent after the releases wait until the server has executed those: 0.4 s on one busy etcd server (measured: 650
  // releases a second at a load of 15 on two cores). With a ttl below three times that, choose fewer.
  std::size_t releases_in_flight_max = 256;
  std::size_t keeps_in_flight_max = 4;
  std::size_t idle_lanes_max = 1024;
};

class coordinator final : public engine::events {
 public:
  using mutex = std::recursive_mutex;

  coordinator(engine::engine& e, const core::clock& c, core::id_source& ids, watcher& w, const limits& l,
              mutex* m = nullptr);
  ~coordinator();

  void want(std::shared_ptr<acquisition> w);

  // The parts of want and give_back that need no engine, for a caller that does not drive: queueing behind another
  // acquisition, and handing off from one holder to the next. False: nothing was done.
  bool join(const std::shared_ptr<acquisition>& w);
  bool hand_off(const hold_ptr& h);

  // Ends an acquisition that still waits. What was already sent is taken back.
  void cancel(const std::shared_ptr<acquisition>& w, tyer::failure why);
  void give_back(const hold_ptr& h, release_reply told);

  // Asks the engine now. True: the hold stands, and was renewed. False without a failure: it is lost. Each hold has one
  // such request under way at a time, and callers that come meanwhile share the next; a caller without an answer within
  // request_timeout gets an error.
  void confirm(const hold_ptr& h, confirm_reply told);

  void convert(std::shared_ptr<change> c);
  void cancel(const std::shared_ptr<change>& c, tyer::failure why);

  // Queries of an operator. Answered within request_timeout, by the engine or with an error (relay.hpp).
  template <class T>
  void ask_engine(query<T> what, std::type_identity_t<engine::reply<T>> told);
  void observe(std::shared_ptr<observer> o);
  void forget(const std::shared_ptr<observer>& o);

  void on_time(lease::time_point now);
  lease::time_point next_due() const noexcept;

  // Called with each event, inside the coordinator: it must not block and must not throw. A wait is reported when it has
  // lasted this long; 0: never. Without `clocks` nobody looks at those of this machine. Before the engine is opened.
  using reporter = core::function<void(event&&)>;
  void report_to(reporter r, lease::duration slow_wait, clock_look::reader clocks = {}) noexcept;

  // No more acquisitions; calls that wait for a lock or for an answer of the engine end with errc::closed at once. Live
  // holds are lost, everything is released.
  void close();
  // The engine was closed: releases without an answer will not get one.
  void abandon();
  bool drained() const noexcept { return tickets_.empty(); }
  bool closed() const noexcept { return closed_; }

  // No caller waits for an answer; only releases may be under way.
  bool quiet() const noexcept { return acquisitions_ == 0 && under_way_->asks == 0 && under_way_->keeps == 0; }

  // Callers that have no answer yet.
  std::size_t waiting_for(std::string_view name) const noexcept;

  // Read by any thread.
  const std::shared_ptr<stats::board>& board() const noexcept { return shared_board_; }

  std::size_t tickets() const noexcept { return tickets_.size(); }
  std::uint64_t keeps_sent() const noexcept { return keeps_sent_; }
  std::size_t times() const noexcept {
    return acquisition_times_.size() + ticket_times_.size() + observer_times_.size() + asker_times_.size();
  }

  // engine::events
  void wake(const core::id& who) override;
  void suspect(const core::id& who) override;
  void gone(const core::id& who) override;
  void asked(const core::id&, std::string_view reason) override;
  void changed(std::string_view name) override;
  void queue_changed(std::string_view name) override;
  void up(const engine::server_facts&) override;
  void down(const engine::failure&) override;

 private:
  // Requests of one group of names.
  struct asks {
    std::size_t in_flight = 0;
    lease::time_point heard{};  // when one of them was answered last
    std::deque<core::id> waiting;
    std::deque<core::id> first;  // releases of names that somebody requests; they leave before the others
  };

  // Requests for one name that were not sent yet: releases that wait until fewer are under way, and the acquires behind
  // them.
  struct turns {
    lease::list<ticket, &ticket::turn> line;
    std::size_t in_the_way = 0;  // for a reader: all but the releases of other readers
  };

  // The terms that all acquisitions of a lane share. The first in line may get the grant that was requested for another, so
  // all must request exactly the same from the engine, with the same limit of hand-offs. Terms of a single hold (min_hold,
  // max_hold) are not part of it.
  struct lane_key {
    std::string_view name, note;
    engine::mode how;
    std::uint32_t take, capacity, handoffs;
    std::chrono::milliseconds ttl, waiter_ttl, lock_delay;
    friend bool operator==(const lane_key&, const lane_key&) = default;
  };
  struct lane_hash {
    std::size_t operator()(const lane_key& k) const noexcept {
      const std::hash<std::string_view> text;
      return text(k.name) ^ (text(k.note) << 1) ^ (static_cast<std::size_t>(k.ttl.count()) << 1) ^
             static_cast<std::size_t>(k.how);
    }
  };

  // State that replies share with the coordinator, which may be gone before an engine drops the last reply.
  struct under_way {
    explicit under_way(coordinator* d) noexcept : home(d) {}
    coordinator* home;
    std::size_t asks = 0, keeps = 0, others = 0;
  };

  // The reply to a request, with the time of its answer. If an engine drops the reply, because it ran out of memory
  // half-way, the destructor reports that: nobody waits for an answer that cannot come.
  template <class T, engine_request Request, std::size_t under_way::* Count, auto Answered, auto Dropped, class What>
  class reply_to {
   public:
    reply_to(std::shared_ptr<under_way> u, lease::time_point asked, What w) noexcept
        : shared_(std::move(u)), asked_(asked), what_(std::move(w)) {
      ++(*shared_.*Count);
    }
    reply_to(reply_to&&) noexcept = default;
    reply_to& operator=(reply_to&&) = delete;
    ~reply_to() {
      if (coordinator* d = end()) {
        const auto in = d->lock();
        (d->*Dropped)(what_);
      }
    }
    void operator()(engine::outcome<T>&& o) {
      const auto alive = shared_;
      const auto in = alive->home->lock();
      coordinator& d = *end();
      const auto now = d.clock_.now();
      d.count_reply(Request, now - asked_, o);
      (d.*Answered)(what_, std::move(o), now);
    }

   private:
    coordinator* end() noexcept {
      const auto s = std::move(shared_);
      if (!s) return nullptr;
      --(*s.*Count);
      return s->home;
    }
    std::shared_ptr<under_way> shared_;
    lease::time_point asked_;
    What what_;
  };

  // A caller that waits for an answer of the engine about a name. The engine owns it until it answers, and the coordinator
  // has only a link; if the request could not be sent, the asker owns itself until it is sent again.
  struct asker : timed {
    virtual ~asker() = default;
    virtual void close(lease::time_point now) noexcept = 0;
    virtual void on_time(coordinator& d, lease::time_point now) noexcept = 0;
    virtual void send(coordinator& d) noexcept = 0;
    lease::link<asker> place;
    std::unique_ptr<asker> self;
  };
  template <class T>
  class relayed;
  friend class confirmation;

  struct asking {
    core::id who;
    std::uint32_t group;
  };
  struct converting {
    core::id who;
    std::uint64_t serial;
  };
  struct keeping {
    std::vector<core::id> ids;
    core::fate as;
    std::chrono::milliseconds ttl;
    std::uint32_t group;
  };

  static lane_key key_of(const spec& s) noexcept {
    return {s.name, s.note, s.how, s.take, s.capacity, s.handoffs, s.ttl, s.waiter_ttl, s.lock_delay};
  }

  void close_held(ticket& t);

  // lanes and their acquisitions
  lane& lane_for(const std::shared_ptr<const spec>& what);
  lane& lane_apart(lane& l);
  static bool asks_for_itself(const acquisition& w, const lane& l) noexcept;
  void join_the_others(ticket& t) noexcept;
  void put_aside(lane& l) noexcept;
  void close_line(lane& l) noexcept;
  static void drop_line(lane& l) noexcept;
  void place(lane& l, const std::shared_ptr<acquisition>& w) noexcept;
  void begin(lane& l);
  void go_on(lane& l) noexcept;
  static bool known_taken(const lane& l) noexcept;
  void leave(lane& l, acquisition& w) noexcept;
  void stand_for_the_rest(lane& l);

  // how long acquisitions wait for an engine that does not answer
  using leaving = lease::list<lease::waiting, &lease::waiting::place>;
  void take_out(lane& l, acquisition& w, leaving& to) noexcept;
  void finish_all(leaving& all, const tyer::failure& why) noexcept;
  lease::duration bears() const noexcept;
  std::optional<lease::time_point> borne_until(const acquisition& w, lease::time_point since) const noexcept;
  void on_silence(ticket& t, tyer::failure why, lease::time_point sent) noexcept;
  void plan_to_tell(lane& l, const acquisition& w) noexcept;
  lease::time_point take_out_those_who_are_over(lane& l, lease::time_point since, leaving& to) noexcept;
  lease::time_point silent_since(const ticket& t) noexcept;
  void is_next(ticket& t) noexcept;
  void tell_those_who_are_over(ticket& t);

  static void tell(acquisition& w, tyer::failure f, hold_ptr h) noexcept;
  void finish(acquisition& w, tyer::failure f, hold_ptr h) noexcept;

  // what is counted (coordinator/count.cpp)
  stats::group& group_of(const spec& s) noexcept {
    return s.counted_in != nullptr ? *s.counted_in : board_.ungrouped();
  }
  lease::time_point when_asked() const noexcept { return board_.counts() ? clock_.now() : lease::time_point{}; }
  void count_answer(const acquisition& w, const tyer::failure& f, const detail::hold_state* h) noexcept;
  void count_end(const detail::hold_state& h, lease::time_point now, std::optional<loss_reason> lost = {}) noexcept;
  void count_return(const presence::change& how) noexcept;
  void count_renewals(std::span<lease::kept* const> entries, lease::time_point now) noexcept;
  template <class T>
  void count_reply(engine_request what, lease::duration took, const engine::outcome<T>& o) noexcept {
    const auto* f = std::get_if<engine::failure>(&o.result);
    const bool failed = f != nullptr && core::passing(f->kind);
    board_.answered(what, failed ? request_end::failed : request_end::answered, took);
    if (f != nullptr && f->kind == core::why::over_limit) board_.turned_away(limit_set_by::engine);
  }

  // what is reported (coordinator/report.cpp)
  // Nothing is reported once the client is being closed: its owner has done that, and may be gone.
  template <class Make>
  void report(Make make) noexcept {
    if (!report_ || closed_) return;
    try {
      event e = make();
      e.when = clock_.wall();
      if (e.what && e.what->counted_in != nullptr) e.group = e.what->counted_in->name;
      report_(std::move(e));
    } catch (const std::bad_alloc&) {  // only this report is lost
    }
  }
  void report_loss(const detail::hold_state& h, loss_reason why, lease::time_point end,
                   std::string_view refusal) noexcept;
  void report_asked(const detail::hold_state& h, std::string_view words) noexcept;
  void report_up(const engine::server_facts& server, const presence::change& how) noexcept;
  void report_down(const engine::failure& f) noexcept;
  void look_at_clocks(lease::time_point now) noexcept;
  lease::time_point due_of(const acquisition& w) const noexcept;
  void on_slow(acquisition& w, lease::time_point now) noexcept;
  void look_for_holders(acquisition& w) noexcept;
  void report_slow(lane& l, engine::outcome<engine::page>&& o) noexcept;
  holder who_has(engine::entry&& seen);

  // limits and schedule of a ticket
  tyer::failure at_its_limit(const acquisition& w) noexcept;
  lease::time_point due_of(ticket& t) noexcept;
  void wake(ticket& t) noexcept { ticket_times_.set(t, due_of(t)); }
  void on_ticket_time(ticket& t, lease::time_point now);
  void do_what_was_not_done(ticket& t, lease::time_point now);
  void try_again_soon(ticket& t, bool ticket::* what) noexcept;

  // a ticket that is being acquired
  ticket* find(const core::id& who) noexcept;
  void ask_in_turn(ticket& t) noexcept;
  void ask(ticket& t) noexcept;
  void send_ask(ticket& t, std::uint32_t group, asks& of_group) noexcept;
  void send_asks_that_waited(asks& of_group) noexcept;
  void on_answer(const asking& what, engine::outcome<engine::answer>&& o, lease::time_point now);
  void on_ask_dropped(const asking& what) noexcept;
  void on_dropped(const core::id& who) noexcept;
  void on_late_answer(ticket& t, const engine::outcome<engine::answer>& o);
  void act(ticket& t, lease::acquire::verb v);
  void begin_anew(ticket& t);
  void begin_anew_if_of_use(ticket& t);
  void refuse_front(ticket& t, tyer::failure f);
  void take_out_tries(lane& l, leaving& to) noexcept;
  void refuse_tries(ticket& t);
  void grant(ticket& t);
  hold_ptr make_hold(ticket& t, std::uint32_t handoffs, const lease::tenure& held);
  void give(ticket& t, hold_ptr h) noexcept;
  bool give_to_next(ticket& t, const hold_ptr& from) noexcept;
  void spare_contender(lane& l, const ticket& besides);

  // a ticket that is held
  static bool told_lost(const ticket& t) noexcept;
  bool taken_back(ticket& t);
  void keep_from(ticket& t, core::fate as, lease::duration ttl, lease::time_point sent,
                 lease::duration proven) noexcept;
  void keep_soon(ticket& t, core::fate as, lease::duration ttl) noexcept;
  void on_held_time(ticket& t, lease::time_point now);
  void pass_on(ticket& t, release_reply told, lease::time_point now);
  void give_to_engine(ticket& t, release_reply told, lease::time_point now);
  void rest(ticket& t, lease::time_point until);
  void leave_behind(ticket& t, lease::time_point until);
  bool still_to_keep(ticket& t, lease::time_point now);
  void keep_what_is_due(lease::time_point now);
  void send_keep(lease::keeper::batch& b);
  void send_keep_to(std::uint32_t group, std::span<lease::kept* const> entries, core::fate as, lease::duration ttl);
  void on_kept(const keeping& k, engine::outcome<engine::kept>&& o, lease::time_point now);
  bool keep_alone(ticket& t, const keeping& k, lease::time_point now);
  void on_keep_dropped(const keeping& k) noexcept;
  bool stays_kept(ticket& t, core::fate as) noexcept;
  void on_left_behind(const core::id& who, engine::outcome<engine::kept>&& o, lease::time_point now);
  void on_hold_kept(ticket& t, core::fate f, lease::time_point sent, lease::duration proven, lease::time_point now);
  void on_waiter_kept(ticket& t, core::fate f, lease::time_point sent, lease::duration proven, lease::time_point now);
  void send_held_back(confirmation& c) noexcept;
  static ticket* still_held(const hold_ptr& h) noexcept;
  void lose_by_proof(ticket& t, core::fate is);
  void lose_by_deadline(ticket& t);
  void lapse(ticket& t, lease::time_point end, loss_reason why);
  void take_from_owner(ticket& t, loss_reason why);
  void end_as_lost(const hold_ptr& h, loss_reason why, std::string_view refusal);

  // a ticket that changes its mode
  void begin_change(ticket& t, std::shared_ptr<change> c);
  void confirm_upgrade(ticket& t);
  static bool disproves(ticket& t, const engine::outcome<engine::answer>& o);
  void on_change_time(ticket& t, lease::time_point now);
  static tyer::failure change_at_its_limit(const ticket& t) noexcept;
  void send_convert(ticket& t) noexcept;
  void on_converted(const converting& c, engine::outcome<engine::answer>&& o, lease::time_point now);
  void on_convert_dropped(const converting& c) noexcept;
  void act(ticket& t, lease::convert::verb v);
  void become(ticket& t, change& c) noexcept;
  void end_change(ticket& t, tyer::failure f, bool changed);
  void answer(const std::shared_ptr<change>& c, tyer::failure f, bool changed) noexcept;
  using changes = std::array<std::shared_ptr<change>, 2>;
  static changes take_changes(ticket& t) noexcept;
  void answer_all(const changes& all, const tyer::failure& f) noexcept;

  // observers of a name
  void look(const std::shared_ptr<observer>& o) noexcept;
  void on_seen(const std::shared_ptr<observer>& o, engine::outcome<engine::page>&& result, lease::time_point now);
  void on_not_seen(const std::shared_ptr<observer>& o) noexcept;
  void look_all(std::string_view name, bool only_at_waiters = false) noexcept;

  // a ticket that is being released
  void retire(ticket& t);
  void begin_release(ticket& t, lease::release r, lease::time_point first);
  void send_release(ticket& t) noexcept;
  void send_release_to(ticket& t, std::uint32_t group, asks& of_group) noexcept;
  void hold_back(ticket& t, asks& of_group);
  void stand_in_line(ticket& t);
  void no_longer_held_back(ticket& t) noexcept;
  bool must_wait_its_turn(const ticket& t) const noexcept;
  void wait_its_turn(ticket& t);
  bool gives_back(std::string_view name) const noexcept { return held_back_.find(name) != held_back_.end(); }
  void send_asks_behind(const std::string& name) noexcept;
  void send_releases_that_are_wanted(std::uint32_t group, asks& of_group) noexcept;
  void send_releases_that_waited(std::uint32_t group, asks& of_group) noexcept;
  void give_up_waiting(ticket& t, lease::time_point now);
  void on_release_answer(const asking& what, engine::outcome<core::fate>&& o, lease::time_point now);
  void on_release_dropped(const asking& what) noexcept;
  void act(ticket& t, lease::release::verb v);
  void erase(ticket& t) noexcept;
  lane* detach(ticket& t) noexcept;

  void forget(asker& a) noexcept;
  void send_askers() noexcept;
  void close_askers() noexcept;

  double jitter() noexcept;
  std::unique_lock<mutex> lock() { return mutex_ != nullptr ? std::unique_lock{*mutex_} : std::unique_lock<mutex>{}; }

  engine::engine& engine_;
  const core::clock& clock_;
  core::id_source& ids_;
  watcher& watch_;
  limits limits_;
  mutex* mutex_;
  bool closed_ = false;
  bool met_ = false;  // the engine has been connected once
  std::size_t acquisitions_ = 0;
  std::map<std::uint32_t, asks> asks_, releases_;        // by group, which may change during an iteration
  std::map<std::string, turns, std::less<>> held_back_;  // by name
  const std::shared_ptr<under_way> under_way_ = std::make_shared<under_way>(this);
  std::uint64_t keeps_sent_ = 0;
  const std::shared_ptr<stats::board> shared_board_ = std::make_shared<stats::board>();  // shared with its readers
  stats::board& board_ = *shared_board_;
  std::uint64_t dice_;

  reporter report_;
  lease::duration slow_wait_ = lease::duration::max();
  const std::shared_ptr<void> looking_for_holders_ = std::make_shared<char>();  // one more owner for each request
  presence presence_;
  clock_look clocks_;

  std::unordered_map<lane_key, std::unique_ptr<lane>, lane_hash> lanes_;
  std::unordered_map<const lane*, std::unique_ptr<lane>> apart_;
  lease::list<lane, &lane::idle> idle_lanes_;
  std::unordered_map<core::id, std::unique_ptr<ticket>, core::id_hash> tickets_;
  floors floors_;
  lease::keeper keeper_;
  agenda<acquisition> acquisition_times_;
  agenda<ticket> ticket_times_;
  lease::list<asker, &asker::place> askers_;
  agenda<asker> asker_times_;
  std::vector<std::shared_ptr<observer>> observers_;
  agenda<observer> observer_times_;
};

}  // namespace tyer::runtime
