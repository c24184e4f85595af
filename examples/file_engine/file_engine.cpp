// The engine behind file:///DIR: locks between the processes of one machine, by files in a directory that exists.
//
// The kit has the duties towards the runtime (engine_base, calls) and decides who holds what (resource). What is left: read the
// state, let the resource decide, write it back, and meanwhile keep other processes out. What others have done to its holds and
// waiters an engine finds by reading the state again, as often as look_every says.
//
// Longer than the other examples, since it is a whole engine: docs/extending.md goes through it from the beginning to the end.
#include "directory.hpp"
#include "engine/table.hpp"
#include "engines/kit/engine_base.hpp"
#include "engines/kit/options.hpp"

#include <algorithm>
#include <charconv>
#include <list>

namespace file_engine {

using namespace tyer::engine;
using kit::call_ptr, kit::result;

// At what others have written; and when another process is at the directory, which it will not be for long.
constexpr milliseconds look_every{20}, try_lock_again{1};

// [engine]
class file_engine final : public kit::engine_base {
 public:
  file_engine(std::string directory, const environment& e)
      : engine_base(e, {.scheme = "file://", .request_timeout = e.request_timeout}), directory_(std::move(directory)) {}
  ~file_engine() override { fall_silent(); }

  capabilities can() const noexcept override {
    auto c = kit::all_modes(/*keep_batch=*/1);
    c.lock_delay = true;
    c.push = false;  // what is found by reading now and then may be missed
    return c;
  }

 private:
  void do_open() override {
    tell([id = directory_](events& e) { e.up({id, "file"}); });
  }
  // [engine]

  // [submit]
  struct turn {
    state& all;
    const std::string& full;  // with the prefix
    kit::resource& name;
    kit::store_time now;
    kit::notices others = {};  // for other clients; not used, since they read the state themselves
  };

  // `decide` makes the answer of a turn.
  template <class T, class Decide>
  void submit(const call_ptr<T>& c, std::string_view name, Decide decide) {
    auto start = [this, c, name = around().prefix + std::string{name}, decide = std::move(decide)]() mutable {
      attempt again = [this, c, name, decide = std::move(decide)]() mutable { return carry_out(c, name, decide); };
      if (!again()) waiting_.push_back(std::move(again));
    };
    calls().in_turn(c, name, std::move(start));
  }

  // False if another process is at the directory.
  template <class T, class Decide>
  bool carry_out(const call_ptr<T>& c, const std::string& name, Decide& decide) {
    if (c->over() || calls().too_late(*c, now())) return true;
    auto said = visit_directory<T>(name, decide);
    if (said) calls().answer(*c, *std::move(said));  // when the visit is over: this may start the next call
    return said.has_value();
  }
  template <class T, class Decide>
  std::optional<result<T>> visit_directory(const std::string& name, Decide& decide) {
    visit v{directory_};
    if (v.busy()) return std::nullopt;
    state all;
    if (auto wrong = v.read(all)) return *std::move(wrong);
    turn t{all, name, all.of(name), all.time(now())};
    result<T> said = decide(t);
    for (auto& [any, of] : all.names) of.reap(t.now, t.others);  // what is over at other names goes too
    if (auto wrong = v.write(all, t.now)) return *std::move(wrong);
    return said;
  }
  // [submit]

  // [time]
  time_point next_due() const override {
    const auto looks = own_.empty() ? time_point::max() : looked_ + look_every;
    return waiting_.empty() ? looks : std::min(looks, now() + try_lock_again);
  }
  void on_time(time_point now) override {
    for (auto at = waiting_.begin(); at != waiting_.end();) at = (*at)() ? waiting_.erase(at) : std::next(at);
    if (!own_.empty() && now >= looked_ + look_every) read_again(now);
  }
  // [time]

  // [look]
  void note(turn& t, const id& who) {
    if (const auto* seat = t.name.find(who)) own_.insert_or_assign(who, std::pair{t.full, *seat});
  }

  // Needs no lock: a state is replaced as a whole. All of this is a hint, whose receiver asks again.
  void read_again(time_point now) {
    looked_ = now;
    auto text = read_file(directory_ + "/state");
    state all;
    if (text == seen_ || !parse(text, all)) return;
    seen_ = std::move(text);
    for (auto at = own_.begin(); at != own_.end();) {
      const auto who = at->first;
      auto& [name, was] = at->second;
      const auto* seat = all.of(name).find(who);
      if (seat == nullptr) tell([who, waited = was.waits()](events& e) { waited ? e.wake(who) : e.suspect(who); });
      if (seat != nullptr && seat->part != was.part) tell([who](events& e) { e.wake(who); });  // granted by another
      if (seat != nullptr && seat->times_asked > was.times_asked)
        tell([who, why = seat->asked](events& e) { e.asked(who, why); });
      if (seat != nullptr) was = *seat;
      at = seat != nullptr ? std::next(at) : own_.erase(at);
    }
  }
  template <class F>
  void tell(F event) {
    box()->put([event = std::move(event)](events* e) {
      if (e != nullptr) event(*e);
    });
  }
  // [look]

  // [calls]
  void do_acquire(const request& r, const call_ptr<answer>& c) override {
    submit(c, r.what.name, [this, r = request{r}, owner = std::string{r.owner}](turn& t) mutable {
      r.what.name = {}, r.owner = owner;  // views of a call that may have returned
      auto said = t.name.acquire(r, t.now, t.others);
      note(t, r.what.who);
      return said;
    });
  }

  void do_keep(std::span<const target> one, fate as, milliseconds ttl, const call_ptr<kept>& c) override {
    if (one.empty()) return calls().answer<kept>(*c, kept{});
    submit(c, one[0].name,
           [who = one[0].who, as, ttl](turn& t) { return kept{{t.name.keep(who, as, ttl, t.now, t.others)}, ttl}; });
  }

  void do_release(const target& t, bool clean, const call_ptr<fate>& c) override {
    own_.erase(t.who);
    submit(c, t.name, [who = t.who, clean](turn& at) { return at.name.release(who, clean, at.now, at.others); });
  }
  // [calls]

  void do_convert(const target& t, mode to, milliseconds, const call_ptr<answer>& c) override {
    submit(c, t.name, [this, who = t.who, to](turn& at) {
      auto said = at.name.convert(who, to, at.now, at.others);
      note(at, who);
      return said;
    });
  }
  void do_ask(std::string_view name, std::string_view reason, const call_ptr<std::uint32_t>& c) override {
    submit(c, name, [why = std::string{reason}](turn& at) { return at.name.ask(why, at.now, at.others); });
  }
  void do_evict(const target& t, std::string_view reason, const call_ptr<fate>& c) override {
    submit(c, t.name,
           [who = t.who, why = std::string{reason}](turn& at) { return at.name.evict(who, why, at.now, at.others); });
  }

  void do_show(std::string_view name, const call_ptr<page>& c) override {
    submit(c, name, [name = std::string{name}](turn& t) { return with(page{}, name, t.name, t.now); });
  }
  void do_list(std::string_view prefix, std::string_view cursor, std::uint32_t limit,
               const call_ptr<page>& c) override {
    std::size_t first = 0;  // of all entries, in the order of their names
    std::from_chars(cursor.data(), cursor.data() + cursor.size(), first);
    submit(c, {},
           [begins = around().prefix + std::string{prefix}, ours = around().prefix.size(), first, limit](turn& t) {
             page all, p;
             for (const auto& [name, of] : t.all.names) {
               if (name.starts_with(begins)) all = with(std::move(all), name.substr(ours), of, t.now);
             }
             const auto end = std::min<std::size_t>(all.entries.size(), first + limit);
             for (auto i = first; i < end; ++i) p.entries.push_back(std::move(all.entries[i]));
             if (end < all.entries.size()) p.cursor = std::to_string(end);
             return p;
           });
  }
  void do_diagnose(const call_ptr<std::vector<finding>>& c) override {
    std::vector<finding> all{{"file:// locks on one machine only", "between machines use redis://", 0}};
    calls().answer<std::vector<finding>>(*c, std::move(all));
  }

  static page with(page p, const std::string& name, const kit::resource& of, kit::store_time now) {
    const auto put = [&](const kit::seat& s, fate what) {
      const auto left = std::chrono::ceil<milliseconds>(s.expires - now);
      if (s.expires > now) p.entries.push_back({s.who, name, what, s.how, left, s.part, s.owner, s.slots});
    };
    for (const kit::seat& s : of.holds()) put(s, fate::holding);
    for (const kit::seat& s : of.queue()) put(s, fate::waiting);
    return p;
  }

  using attempt = tyer::core::function<bool()>;  // false: another process was there
  const std::string directory_;
  std::list<attempt> waiting_;                           // an attempt may add another, and may run out of memory
  std::map<id, std::pair<std::string, kit::seat>> own_;  // holds and places of this client, as last seen
  std::string seen_;
  time_point looked_;
};

}  // namespace file_engine

// [make]
extern "C" tyer::engine::made tyer_engine_file(tyer::core::uri& u, const tyer::engine::environment& e) {
  if (!u.hosts.empty() || u.path.empty()) {
    return {nullptr, tyer::kit::wrong_uri("file:// takes a directory: file:///var/lib/locks")};
  }
  return {std::make_unique<file_engine::file_engine>('/' + u.path, e), {}};
}
// [make]
