// redis+sentinel://: the server that the sentinels call the master.
//
// Never depends on a notification: every sentinel is polled, at first more often while no master is reachable; their
// announcement of a new master only triggers a poll at once. The follower decides which of their answers counts.
#include "engines/redis/deployment/follower.hpp"
#include "engines/redis/deployment/one_server.hpp"
#include "engines/redis/deployment/pace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <optional>

namespace tyer::redis {

namespace {

using engine::failure;
using engine::time_point;
using std::chrono::milliseconds;

constexpr milliseconds ask_every{1000}, ask_every_when_away{100};

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

std::optional<core::endpoint> read_address(std::string_view host, std::string_view port) {
  core::endpoint e{std::string{host}, 0};
  if (host.empty() || !number(port, e.port) || e.port == 0) return std::nullopt;
  return e;
}

// The answer of SENTINEL MASTER: names and values in turn.
std::optional<follower::word> read_master(std::span<const std::string_view> words) {
  follower::word w;
  std::string_view host, port;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "ip") host = words[i + 1];
    if (words[i] == "port") port = words[i + 1];
    if (words[i] == "flags") w.leads_failover = words[i + 1].find("failover_in_progress") != std::string_view::npos;
    if (words[i] == "config-epoch" && !number(words[i + 1], w.epoch)) return std::nullopt;
  }
  auto server = read_address(host, port);
  if (!server) return std::nullopt;
  w.master = std::move(*server);
  return w;
}

// A connection to a sentinel needs other settings than one to a server.
connection::settings for_sentinel(const connection_factory& m, const core::endpoint& e) {
  auto s = m.at(e, connection::use::asking);
  s.where.user = m.where.sentinel_user;
  s.where.password = m.where.sentinel_password;
  s.where.database = 0;
  s.where.master.clear();
  s.inbox = "+switch-master";
  return s;
}

}  // namespace

class sentinel final : public one_server, connection::listener, loop::timer {
 public:
  sentinel(loop& l, const connection_factory& m)
      : one_server(l, m, m.where.seeds.front()),
        loop_(&l),
        clock_(m.clock),
        log_(m.log),
        name_(m.where.master),
        choice_(m.where.seeds.size()) {
    for (const auto& e : m.where.seeds) scouts_.emplace_back(*this, scouts_.size(), l, for_sentinel(m, e));
    loop_->join(*this);
  }
  ~sentinel() override { loop_->leave(*this); }

  void open(connection::listener& l) override {
    outer_ = &l;
    away_since_ = clock_->now();
    for (auto& s : scouts_) s.link.open(s);
  }

  void call(const script& s, std::span<const std::string_view> words, reply_handler back) override {
    if (!choice_.has_chosen()) return refuse(nobody_told(), std::move(back));
    one_server::call(s, words, std::move(back));
  }

  void close(core::function<void()> done) override {
    closing_ = true;
    closed_ = std::move(done);
    open_links_ = scouts_.size() + 1;
    const auto one_less = [this] {
      if (--open_links_ == 0) closed_();
    };
    for (auto& s : scouts_) s.link.close(one_less);
    one_server::close(one_less);
  }

 private:
  // A sentinel.
  struct scout final : connection::listener {
    scout(sentinel& h, std::size_t n, loop& l, connection::settings s) : home(&h), number(n), link(l, std::move(s)) {}

    void on_up(const engine::server_facts&) override { next = time_point::min(); }
    void on_down(const failure& f) override { home->scout_lost(*this, f); }
    void on_message(std::string_view) override { home->ask_all(); }

    sentinel* home;
    std::size_t number;
    bool asked = false;
    time_point next = time_point::min();
    std::string trouble;  // why it could not answer
    bool refused = false;
    connection link;
  };

  void ask_all() {
    for (auto& s : scouts_) s.next = time_point::min();
  }

  void ask(scout& s, time_point t) {
    s.asked = true;
    s.next = t + (main_.is_up() ? ask_every : pace(t - away_since_, ask_every_when_away, ask_every));
    s.link.command("SENTINEL", std::array<std::string_view, 2>{"MASTER", name_}, [this, &s](const received& r) {
      s.asked = false;
      const auto w = r.wrong == nullptr ? read_master(r.words) : std::nullopt;
      if (!w) return made_no_sense(s, r);
      if (w->leads_failover) return ask_whom(s, w->epoch);
      heard(s, *w);
    });
  }

  // For a sentinel that leads a failover: the address is read after the epoch, so that it can only be too new for it.
  void ask_whom(scout& s, std::uint64_t epoch) {
    s.asked = true;
    const std::array<std::string_view, 2> whom{"GET-MASTER-ADDR-BY-NAME", name_};
    s.link.command("SENTINEL", whom, [this, &s, epoch](const received& r) {
      s.asked = false;
      auto server = r.wrong == nullptr && r.words.size() == 2 ? read_address(r.words[0], r.words[1]) : std::nullopt;
      if (!server) return made_no_sense(s, r);
      heard(s, {std::move(*server), epoch, true});
    });
  }

  void heard(scout& s, const follower::word& w) {
    s.trouble.clear();
    s.refused = false;
    choice_.heard(s.number, w, clock_->now());
  }

  static std::string what_is_wrong(const received& r) {
    if (r.wrong == nullptr) return " gave an answer that cannot be understood";
    return r.wrong->words.starts_with("ERR unknown command") ? " is no sentinel" : ": " + r.wrong->words;
  }
  void made_no_sense(scout& s, const received& r) {
    cannot_say(s, shown(s.link.server()) + what_is_wrong(r), r.wrong != nullptr && r.wrong->code == errc::refused);
  }

  void scout_lost(scout& s, const failure& f) { cannot_say(s, f.words, f.kind == engine::why::refused); }

  void cannot_say(scout& s, std::string why, bool refused) {
    s.trouble = std::move(why);
    s.refused = refused;
    choice_.silent(s.number);
    complain();
  }

  void follow(time_point t) {
    const bool first = !choice_.has_chosen();
    const auto server = choice_.decide(main_.is_up(), t);
    if (!server) return;
    if (log_) log_(log_level::info, "the sentinels say that the master of " + name_ + " is " + shown(*server));
    move_to(*server, "the sentinels say that the master is now " + shown(*server));
    if (first) one_server::open(*this);
  }

  failure nobody_told() const {
    std::string words = "no sentinel has said yet who the master of " + name_ + " is";
    // Of all that refuse us the first is enough: its words end in what to do.
    if (std::ranges::all_of(scouts_, &scout::refused))
      return {engine::why::refused, make_error_code(errc::refused), words + "; " + scouts_.front().trouble};
    for (const auto& s : scouts_) {
      if (!s.trouble.empty()) words += "; " + s.trouble;
    }
    return {engine::why::not_sent, make_error_code(errc::unavailable), std::move(words)};
  }

  // Once no sentinel is left that could answer.
  void complain() {
    if (choice_.has_chosen() || closing_ || complained_) return;
    if (!std::all_of(scouts_.begin(), scouts_.end(), [](const scout& s) { return !s.trouble.empty(); })) return;
    complained_ = true;
    outer_->on_down(nobody_told());
  }

  static std::string shown(const core::endpoint& e) { return e.host + ':' + std::to_string(e.port); }

  // The master
  void on_up(const engine::server_facts& f) override {
    complained_ = was_away_ = false;
    outer_->on_up(f);
  }
  void on_down(const failure& f) override {
    if (!std::exchange(was_away_, true)) away_since_ = clock_->now();
    ask_all();
    if (!std::exchange(complained_, false)) outer_->on_down(f);
  }
  void on_message(std::string_view m) override { outer_->on_message(m); }

  // The loop
  void tick(time_point t) override {
    if (closing_) return;
    follow(t);
    for (auto& s : scouts_) {
      if (s.link.is_up() && !s.asked && t >= s.next) ask(s, t);
    }
  }
  time_point due() const override {
    auto t = choice_.due();
    for (const auto& s : scouts_) {
      if (s.link.is_up() && !s.asked) t = std::min(t, s.next);
    }
    return closing_ ? time_point::max() : t;
  }

  loop* loop_;
  const core::clock* clock_;
  log_hook log_;
  std::string name_;
  connection::listener* outer_ = nullptr;
  follower choice_;
  std::deque<scout> scouts_;
  bool complained_ = false, closing_ = false;
  bool was_away_ = true;  // the master, since:
  time_point away_since_{};
  std::size_t open_links_ = 0;
  core::function<void()> closed_;
};

std::unique_ptr<deployment> make_sentinel(loop& l, connection_factory m) { return std::make_unique<sentinel>(l, m); }

}  // namespace tyer::redis
