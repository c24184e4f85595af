// The engine of a database whose sessions are the locks: pg_advisory_lock, GET_LOCK (docs/adr/0022-session-locks.md).
//
// Everything is in one thread, on one connection, which never waits for a lock: whoever waits asks again and again.
#pragma once

#include "engines/sql/frame.hpp"
#include "engines/sql/held_session.hpp"
#include "engines/sql/session_tongue.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tyer::sql {

class session_locks final : public frame {
 public:
  session_locks(const seam::environment&, parts, const session_tongue&);
  ~session_locks() override;

  seam::capabilities can() const noexcept override;

 private:
  using then = link::then;

  // Of a server; until then it is not left, since all holds go with the connection.
  static constexpr milliseconds silence_max{10'000};
  static constexpr const char* untold = "the session could not be told when to end";

  // One acquire, until its lock is won or not.
  struct taking {
    call_ptr<answer> call;
    wanted what;
    bool waits = false;  // else it is a try
    bool made_name = false;
    time_point proof{};  // when that left whose answer says that it is won
  };
  using taking_ptr = std::shared_ptr<taking>;

  // One keep() that waits for the session to show that it lives.
  struct keeping {
    call_ptr<seam::kept> call;
    std::vector<std::pair<id, std::string>> all;
    milliseconds ttl{};
    time_point since{};  // it must have lived then
  };
  using keeping_ptr = std::shared_ptr<keeping>;

  // --- what the base asks
  void do_acquire(const seam::request&, const call_ptr<answer>&) override;
  void do_keep(std::span<const seam::target>, fate as, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_confirm(const seam::target&, milliseconds ttl, const call_ptr<seam::kept>&) override;
  void do_release(const seam::target&, bool clean, const call_ptr<fate>&) override;
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>&) override;
  void do_evict(const seam::target&, std::string_view reason, const call_ptr<fate>&) override;
  void do_show(std::string_view name, const call_ptr<seam::page>&) override;
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<seam::page>&) override;
  std::vector<seam::finding> findings(const answers&) const override;
  time_point next_due() const override;
  void on_time(time_point) override;
  void start_anew() override { link_.break_off("there was no memory to go on with what was under way"); }

  // --- the connection (session_locks.cpp)
  exchange greeting() override;
  std::optional<failure> greeted(const answers&) override;
  meaning what(const answered&) const override;
  void on_up() override;
  void on_down(const failure&) override;
  void say(exchange, time_point deadline, then);
  void say_when_up(const call_ptr<answer>&, core::function<void()>);

  // --- taking and giving back (session_holds.cpp)
  void when_settled(const std::string& name, core::function<void()>);
  void settled(const std::string& name);
  void begin(const taking_ptr&);
  void take(const taking_ptr&);
  void came(const taking_ptr&, link::said&&);
  void hold(const taking_ptr&, std::uint64_t part);
  void refused_by_row(const taking_ptr&);
  using given_back = core::function<void(std::optional<failure>, bool had)>;
  void give_back(const std::string& name, const char* how, given_back);
  void say_give_back(const std::string& name, const char* how, int tries, given_back);
  void find_busy(const taking_ptr&);

  // --- keeping
  void keep_all(const keeping_ptr&, bool may_share);
  void make_sure(exchange first);
  void sure(time_point sent, link::said&&);
  void answer_keeps();
  void answer_keep(const keeping_ptr&);

  void list_names(std::string from, std::string to, std::uint32_t names, const call_ptr<seam::page>&);

  const session_tongue& sessions_;
  session_facts facts_;
  time_point run_known_since_{};  // by this client's clock, which nobody sets
  std::size_t facts_asked_ = 0;

  held_session session_;
  std::map<std::string, std::vector<core::function<void()>>> behind_;  // what waits for a lock to be won or not
  std::unordered_map<id, time_point, core::id_hash> waiting_;          // since when they were told to
  std::vector<keeping_ptr> keeps_;
  time_point asked_at_ = time_point::min();  // when it was last asked who it is
};

}  // namespace tyer::sql
