// The engine of zk:// and zks://, and how an attempt goes through it.
//
//   acquire ──look──▶ fits ──▶ a node in a session for holds ──look──▶ holds
//              │                                                         ▲
//              └──▶ a node in a session for places ──the one in its way has gone: wake, acquire again──▶ moved to the first kind;
//                   of an exclusive one another node is made there, and its place stays beside it
//
// Whatever is decided is decided by the order of the nodes (line.hpp); whatever is told lives by a session (lease.hpp).
#pragma once

#include "engines/kit/engine_base.hpp"
#include "engines/zookeeper/config.hpp"
#include "engines/zookeeper/layout.hpp"
#include "engines/zookeeper/lease.hpp"
#include "engines/zookeeper/line.hpp"
#include "engines/zookeeper/wire/connection.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace tyer::zookeeper {

namespace seam = tyer::engine;
using kit::call_ptr;
using kit::failure;
using kit::no;
using seam::answer;
using seam::fate;
using seam::target;
using seam::why;
using wire::op;
using wire::response;

inline constexpr std::size_t path_bytes_max = 512U * 1024U;  // of one session: ZOOKEEPER-4306
inline constexpr std::size_t lengths_max = 4;                // of sessions; then a hold may live by one that is longer,
inline constexpr int longer_max = 2;                         // but not by more: what a dead client had lasts as long
inline constexpr std::size_t keep_batch = 1000;
inline constexpr milliseconds settled_after{50};  // a hold that is older is watched
inline constexpr milliseconds waited_after{
    2000};  // and so is a place: so much later for each that the client has in that name,
inline constexpr std::size_t looks_serve_max = 30;  // up to so many, since one look serves them all
inline constexpr milliseconds crowded_for{10'000};  // who had to wait for a name stands in line there without a look
inline constexpr std::size_t crowded_max = 1000;    // such names
inline constexpr milliseconds unused_for{10'000};   // a session is closed then
inline constexpr milliseconds short_lived{1000};    // after a session that was, the next one is not asked for at once
inline constexpr milliseconds version_within{500};
inline constexpr int unanswered = 4;  // anything for such a part of what a renewal proves: another server
inline constexpr int left_in_vain_max = 2;
inline constexpr int renewals_again = 16;  // at most, in what a renewal proves
inline constexpr int tries_max = 20;       // others were quicker
inline constexpr std::size_t said_max = 20;
inline constexpr std::size_t walk_max = 10'000;  // nodes that are looked at for a list, where names may lie anywhere

failure failed(const response&, bool changes);  // what an answer that is none means
inline response refused_with(std::int32_t error) { return {response::how::answered, error}; }
failure not_connected();
failure under_way(why kind = why::not_sent);  // something else of this id
failure others_were_quicker();
failure no_more_numbers();

class zookeeper_engine final : public kit::engine_base {
 public:
  zookeeper_engine(config, const seam::environment&);
  ~zookeeper_engine() override;

  seam::capabilities can() const noexcept override;
  void wake() noexcept override { loop_.wake(); }

 private:
  // A session, and what lives by it.
  struct member final : wire::connection::listener {
    member(zookeeper_engine&, milliseconds length, std::size_t first_host);
    void on_up() override;
    void on_gone() override;
    void on_event(const wire::event&) override;
    void on_down(const std::string& words, bool refused) override;
    // Then its server has left something unanswered for too long, and half of what was proven is over. Where all are slow another
    // is no better: it gets twice as long.
    time_point patience_ends() const {
      const auto since = link.session().waits_since();
      if (since == time_point::max()) return since;
      if (over) return since + home->around().request_timeout;  // it was to be closed
      return std::max(since + (life.ttl() / unanswered) * (1 << left_in_vain), life.kept() + life.ttl() / 2);
    }
    bool usable(time_point now) { return ready && link.session().up() && life.live(now); }
    // A server that answers a renewal with an error is not asked as quickly as it answers.
    time_point renewal_due() const {
      return std::max(life.kept() + life.ttl() / 2, not_renewed + life.ttl() / renewals_again);
    }

    zookeeper_engine* home;
    const milliseconds length;
    lease life;
    bool ready = false, setting_up = false, primary = false, renewing = false, over = false, closed = false;
    std::int64_t number = 0;
    int left_in_vain = 0;      // servers, since something was proven
    time_point not_renewed{};  // though it was answered: when
    std::string node;          // that renewals write
    std::size_t path_bytes = 0;
    std::set<id> entries;
    std::set<id> doubts;  // of which it is not known what became of a write that was sent in it
    time_point since{}, used{};
    std::vector<std::function<void(const failure*)>> waiting;  // for it to be ready
    std::vector<std::function<void(bool)>> renewals;
    wire::connection link;  // last: it calls the rest
  };

  enum class watched : std::uint8_t { no, asked, yes };
  // By what a place is told that it must look again.
  enum class way : std::uint8_t { nothing, node, list };

  // A hold or a place that this client has.
  struct entry {
    std::string name;
    contender me;
    member* in = nullptr;
    member* place_in = nullptr;  // of the place that stays beside its hold, if that is known
    member* in_doubt = nullptr;  // a write that would have renamed it has no answer: this one's session can tell
    milliseconds ttl{}, waiter_ttl{};
    std::uint64_t part = 0, seen = 0;
    std::vector<std::uint32_t> slots;
    bool holding = false, turn = false, leaving = false, upgrading = false;
    // What was in its way held the name alone, and has gone: its turn, if nothing was converted.
    bool called = false;
    std::vector<std::string> must_be_gone;  // then: whoever was in its way
    bool behind_first = false;              // at the last look what was in its way stood before all
    bool own_part = false;                  // there was no floor when its turn came
    watched own_watch = watched::no;
    way barred = way::nothing;  // node, list: what was in its way at the last look is watched, and still there
    bool told = false, asked_before = false;
    bool over = false;  // its time is, though the server may not know yet
    std::uint32_t times_asked = 0;
    std::string owner, watching;
    time_point due{}, settles{};
  };

  // What was read of a name.
  struct view {
    line all;
    wire::stat is;
    bool there = false;
    std::uint32_t numbers() const noexcept { return numbers_given(is.child_version, is.children); }
  };
  struct attempt {
    call_ptr<answer> c;
    id who;
    std::string name, owner;
    mode how;
    std::uint32_t take, capacity;
    milliseconds ttl, waiter_ttl;
    bool enqueue;
    std::uint64_t seen;
    int tries = 0;
    bool synced = false, anew = false;
  };
  using attempt_ptr = std::shared_ptr<attempt>;
  // A name in which this client has waited, and how many numbers had been given there.
  struct crowd {
    time_point since{};
    view seen{};
  };
  struct name_state {
    bool looking = false, again = false;
    std::int64_t listed_by = 0;  // the session that watches the children, 0: none
    std::int64_t informed = 0;   // the session that was told last that something has gone
    shared_watch listed;
    std::set<id> ids;  // of ours
  };
  using with_view = std::function<void(const failure*, const view&)>;
  using with_member = std::function<void(const failure*, member*)>;
  using with_record = std::function<void(const failure*, record_of_name, const wire::stat&)>;
  using with_both = std::function<void(const failure*, record_of_name, const wire::stat&, const view&)>;
  using removed = std::function<void(const failure*, fate was)>;
  using heard = std::function<void(const response&)>;

  // --- zookeeper.cpp: the loop and the sessions
  void do_open() override;
  std::vector<seam::delivery> receive(time_point until) override;
  time_point next_due() const override;
  void on_time(time_point) override;
  void start_anew() override;
  void do_close() override {}
  bool has_let_go(time_point) override;
  member& add_member(milliseconds length);
  void find_member(milliseconds ttl, with_member);
  member* any_member();
  void set_up(member&, int tries);
  void on_set_up(member&, int tries, const response&);
  void make_base(member&, const std::function<void(const response&)>& then);
  void renew(member&, std::function<void(bool)>);
  void prove(member&, time_point until, std::function<void(bool)>);
  void condemn(member&);
  bool is_used(const member&, time_point now) const;
  bool renews(const member&, time_point now) const;
  void reap(time_point);
  void tell_up();
  void tell_ready(const member&);
  void tell_down(const failure&);

  // --- acquire.cpp
  void do_acquire(const seam::request&, const call_ptr<answer>&) override;
  std::optional<failure> objection(const seam::request&) const;
  void start(const attempt_ptr&);
  void first_look(const attempt_ptr&, member&);
  void first_seen(const attempt_ptr&, member&, const view&);
  void again(const attempt_ptr&, entry&);
  // Where a node cannot be moved, it waits in the session of its hold.
  milliseconds place_ttl(const attempt& a) const {
    return layout_.is_own() ? a.waiter_ttl : std::max(a.ttl, a.waiter_ttl);
  }
  bool must_move(const entry& e, const attempt& a) const {
    return layout_.is_own() && (e.me.is_place() || e.in->length < session_for(a.ttl));
  }
  void decide(const attempt_ptr&, const view&);
  void claim(const attempt_ptr&, const view&);
  void claim_with(const attempt_ptr&, const view&, record_of_name, const wire::stat&);
  // Written with it: a floor where the name had that version, or nothing if it has; and those nodes are not there.
  struct with_move {
    std::string floor;
    std::optional<std::int32_t> version;
    std::vector<std::string> gone;
  };
  void move(const attempt_ptr&, std::uint64_t part, with_move = {});
  void on_moved(const attempt_ptr&, member& to, const contender& next, std::uint64_t part, const response&);
  void grant_once_proven(const attempt_ptr&);
  void grant(const attempt_ptr&);
  void queue(const attempt_ptr&, const view&, const contender&);
  void step_back(const attempt_ptr&, entry&, const contender& first);
  using told_place = std::variant<seam::queued, seam::busy>;
  void tell_place(const attempt_ptr&, const contender* ahead, told_place);
  void tell_place_by(const attempt_ptr&, const response& first, told_place);
  void retry(const attempt_ptr&);

  // --- create.cpp
  void adopt(const attempt_ptr&, member&, const contender&);
  void make_container(const attempt_ptr&, member&);
  void make_parents(const attempt_ptr&, member&);
  void create(const attempt_ptr&, member&, const view&, bool to_wait);
  struct creation;
  void ask_behind(const attempt_ptr&, member&, const std::shared_ptr<creation>&);
  void on_created(const attempt_ptr&, member&, const std::shared_ptr<creation>&, const std::string& path,
                  const wire::stat&);
  void stand_in_line(const attempt_ptr&, member&, const creation&);
  void seen_in_line(const attempt_ptr&, member&, const failure*, const view&);
  void clear_away(const attempt_ptr&, member&, const contender& another);
  const view* crowded(const std::string& name);
  void note_crowd(const std::string& name, const view&);

  // --- keep.cpp
  struct keeping;
  struct kept_one {
    std::size_t i;  // of the fates
    id who;
  };
  void do_keep(std::span<const target>, fate as, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_confirm(const target&, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void keep_heard(const std::shared_ptr<keeping>&, member&, const std::vector<kept_one>&, const response&);
  void keep_hold(const std::shared_ptr<keeping>&, std::size_t i, entry&);
  void keep_place(const std::shared_ptr<keeping>&, const kept_one&, entry&);
  void keep_unclear(const std::shared_ptr<keeping>&, member&, const std::string& name, const std::vector<kept_one>&);
  void keep_judged(const std::shared_ptr<keeping>&, const kept_one&);
  void keep_others(const std::shared_ptr<keeping>&, const std::map<std::string, std::vector<kept_one>>& by_name);
  void keep_no_more(const std::shared_ptr<keeping>&, failure);
  void one_kept(const std::shared_ptr<keeping>&);

  // --- release.cpp
  void do_release(const target&, bool clean, const call_ptr<fate>&) override;
  void do_evict(const target&, std::string_view reason, const call_ptr<fate>&) override;
  void take_away(const std::string& name, const id&, bool is_news, const call_ptr<fate>&);
  void remove(const std::string& name, const id&, int tries, removed, bool was_over = false);
  void remove_another(member&, const std::string& name, const contender& another, int tries, removed, bool was_over);
  // Its time was over, so it was to be taken away; but somebody has asked for it since.
  bool is_asked_anew(const id& who, bool was_over) const {
    const auto at = mine_.find(who);
    return was_over && at != mine_.end() && !at->second.over;
  }
  void delete_node(member&, const std::string& name, const contender&, fate was, removed);
  void delete_nodes(member&, const std::string& name, const contender&, heard);
  void remove_permit(member&, const std::string& name, const id&, int tries, removed, bool was_over);
  // A step that fails if it is there; to be taken back by the next one.
  wire::step never_there(const std::string& path) const {
    return {op::create, wire::create_body(path, {}, config_.rights, wire::node_kind::lasting)};
  }
  void drop(const id&);  // takes it away; nobody waits for it
  void drop_overdue(time_point);

  // --- convert.cpp
  void do_convert(const target&, mode to, milliseconds not_after, const call_ptr<answer>&) override;
  void start_convert(const call_ptr<answer>&, const std::string& name, const id&, mode to);
  void convert_seen(const call_ptr<answer>&, const id&, mode to, const view&);
  void mark_upgrade(const call_ptr<answer>&, const id&, const view&, const contender&);
  void on_marked(const call_ptr<answer>&, const id&, const response&);
  void upgrade_marked(const call_ptr<answer>&, const id&, const view&);
  struct renaming;
  void rename(const id&, const line& seen, mode to, bool new_part, std::function<void(const failure*)>);
  void rename_with(const std::shared_ptr<renaming>&, record_of_name, const wire::stat&);
  void on_renamed(const std::shared_ptr<renaming>&, bool had_place, const response&);
  void converted(const call_ptr<answer>&, const id&);

  // --- own.cpp: what this client has, and what it is told about it
  std::string path_of(std::string_view name) const { return layout_.path_of(name); }
  std::string path_of(const entry& e) const { return path_of(e.name) + '/' + e.me.node; }
  void count(member&, const id&, const std::string& path);
  void count_no_more(const entry&);
  entry* own(const id&, std::string_view name);
  entry& add_entry(const attempt&, member&, const contender&, std::uint64_t part);
  void rename_entry(entry&, contender, member&);
  void doubt(const id&, member& sent_in);
  void clear_doubt(entry&);
  bool may_have_moved(const id&);
  using settled = std::function<void(const failure*)>;
  void settle_doubt(const id&, settled);
  void settle_with(const id&, const contender&, member& by, settled);
  // Then it is told what becomes of its node, before the answer to whatever its session asks from now on.
  static bool watches_itself(const entry& e) {
    return e.own_watch == watched::yes && e.in->link.session().watches_set();
  }
  bool waits(const entry& e) const noexcept { return !e.holding || e.upgrading; }
  // Or may be: what is found under its old name says nothing.
  bool is_renamed(const entry& e) const { return e.in_doubt != nullptr || writing_.contains(e.me.who); }
  // Nothing was found of it, by its session and since it is called as it is; or the place alone that stood beside the hold, or what an
  // earlier request has left.
  bool is_gone(const entry& e, const contender* found) const {
    if (found == nullptr || is_renamed(e)) return found == nullptr;
    return found->number != e.me.number || (found->is_place() && !e.me.is_place());
  }
  void forget(const id&);
  void lose(id);
  void give_up(id, member& of_place);
  void taken_away(id);
  bool may_have_its_turn(const entry&) const;
  void put_off(const id&, entry&, time_point due);
  using engine_base::look;
  void look(member&, const std::string& name, bool synced, with_view);
  void read_name(member&, const std::string& name, with_record);
  void read_both(member&, const std::string& name, with_both);
  void refresh(const std::string& name, std::int64_t informed = 0);
  void refreshed(const std::string& name, const view&);
  void place_seen(const id&, const view&);
  void watch_way(const id&, entry&, const view&, const contender&, heard = {});
  void watch_node(const id&, entry&, const std::string& path, heard = {});
  void settle(const id&, entry&, milliseconds after);
  void call_next(const id&, std::vector<std::string> must_be_gone);
  bool tells_the_next(const entry&, const contender& before, wire::event::kind) const;
  std::vector<std::string> to_be_gone(const contender& before, wire::event::kind) const;
  void watch_all(entry&, const view&);
  static std::optional<std::string> path_when_moved(const std::string& path);
  void relist(std::int64_t session);
  void watch_own(const id&);
  void on_event(const member&, const wire::event&);
  void own_changed(const id&);

  // --- admin.cpp
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_show(std::string_view name, const call_ptr<seam::page>& c) override { do_look(name, true, c); }
  void do_look(std::string_view name, bool waiters, const call_ptr<seam::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<seam::page>&) override;
  void list_names(member&, std::vector<std::string> names, std::string_view cursor, std::uint32_t limit,
                  const call_ptr<seam::page>&);
  struct walk;
  void visit(member&, const std::shared_ptr<walk>&, const std::string& path);
  void visited(member&, const std::shared_ptr<walk>&, const std::string& path,
               const std::vector<std::string>& children);
  void do_diagnose(const call_ptr<std::vector<seam::finding>>&) override;
  std::vector<seam::finding> examine_sessions() const;
  void entries_of(member&, const std::string& name, bool waiters,
                  std::function<void(const failure*, std::vector<seam::entry>)>);

  const config config_;
  const layout layout_;
  wire::loop loop_;
  std::list<std::unique_ptr<member>> members_;
  std::size_t next_host_;
  bool asked_version_ = false;
  std::set<std::string> said_;  // of what is wrong, since it was well
  std::string version_;
  time_point let_go_by_{};
  std::unordered_map<id, entry, core::id_hash> mine_;
  std::map<std::string, id> by_path_;
  std::map<std::string, name_state, std::less<>> names_;  // where we have something
  std::unordered_map<std::string, crowd> crowded_;
  std::set<id> writing_;  // of whom a node is being made or renamed
  std::set<std::pair<time_point, id>> dues_, settling_;
};

}  // namespace tyer::zookeeper
