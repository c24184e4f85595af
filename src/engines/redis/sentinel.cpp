// redis+sentinel://: whichever server the sentinels call the master.
//
// No message is relied on. Every sentinel is asked again and again, more often while there is no master to talk to; their
// announcement of a new one only makes us ask at once. The answer with the largest config epoch counts, so a sentinel that
// was cut off and has not heard of a failover cannot lead us back. If the master it names has been away for a while, that
// epoch is forgotten: the sentinels may have been set up anew.
#include "engines/redis/one_server.hpp"

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
constexpr std::chrono::seconds forget_epoch_after{5};

struct master {
  core::endpoint server;
  std::uint64_t epoch = 0;
};

template <class T>
bool number(std::string_view text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

// The answer of SENTINEL MASTER: names and values in turn.
std::optional<master> read_master(std::span<const std::string_view> words) {
  master m;
  bool named = false;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "ip") m.server.host = std::string{words[i + 1]};
    if (words[i] == "port") named = number(words[i + 1], m.server.port) && m.server.port != 0;
    if (words[i] == "config-epoch" && !number(words[i + 1], m.epoch)) return std::nullopt;
  }
  if (!named || m.server.host.empty()) return std::nullopt;
  return m;
}

// What a sentinel needs of the settings is not what the servers need.
connection::settings for_sentinel(const materials& m, const core::endpoint& e) {
  auto s = m.at(e, connection::use::asking);
  s.where.user = m.where.sentinel_user;
  s.where.password = m.where.sentinel_password;
  s.where.database = 0;
  s.inbox = "+switch-master";
  return s;
}

}  // namespace

class sentinel final : public one_server, connection::listener, loop::member {
 public:
  sentinel(loop& l, const materials& m)
      : one_server(l, m, m.where.seeds.front()), loop_(&l), clock_(m.clock), log_(m.log), name_(m.where.master) {
    for (const auto& e : m.where.seeds) scouts_.emplace_back(*this, l, for_sentinel(m, e));
    loop_->join(*this);
  }
  ~sentinel() override { loop_->leave(*this); }

  void open(connection::listener& l) override {
    outer_ = &l;
    away_since_ = clock_->now();
    for (auto& s : scouts_) s.link.open(s);
  }

  void call(const script& s, std::span<const std::string_view> words, then back) override {
    if (!known_) return refuse(nobody_told(), std::move(back));
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
    scout(sentinel& h, loop& l, connection::settings s) : home(&h), link(l, std::move(s)) {}

    void on_up(const engine::server_facts&) override { next = time_point::min(); }
    void on_down(const failure& f) override { home->scout_lost(*this, f); }
    void on_message(std::string_view) override { home->ask_all(); }

    sentinel* home;
    bool asked = false;
    time_point next = time_point::min();
    std::string trouble;  // why it could not say
    connection link;
  };

  void ask_all() {
    for (auto& s : scouts_) s.next = time_point::min();
  }

  void ask(scout& s, time_point t) {
    s.asked = true;
    s.next = t + (main_.is_up() ? ask_every : ask_every_when_away);
    s.link.command("SENTINEL", std::array<std::string_view, 2>{"MASTER", name_}, [this, &s](const received& r) {
      s.asked = false;
      const auto m = r.wrong == nullptr ? read_master(r.words) : std::nullopt;
      if (m) return heard(s, *m);
      s.trouble =
          shown(s.link.server()) + (r.wrong != nullptr ? ": " + r.wrong->words : " gave an answer that makes no sense");
      complain();
    });
  }

  void heard(scout& s, const master& m) {
    s.trouble.clear();
    const bool stale = known_ && m.epoch < known_->epoch;
    if (stale && (main_.is_up() || clock_->now() - away_since_ < forget_epoch_after)) return;
    const bool first = !known_, moved = first || m.server != main_.server();
    known_ = m;
    if (!moved) return;
    away_since_ = clock_->now();
    if (log_) log_(log_level::info, "the sentinels say that the master of " + name_ + " is " + shown(m.server));
    move_to(m.server, "the sentinels say that the master is now " + shown(m.server));
    if (first && !closing_) one_server::open(*this);
  }

  void scout_lost(scout& s, const failure& f) {
    s.trouble = f.words;
    complain();
  }

  failure nobody_told() const {
    std::string words = "no sentinel has said yet who the master of " + name_ + " is";
    for (const auto& s : scouts_) {
      if (!s.trouble.empty()) words += "; " + s.trouble;
    }
    return {engine::why::not_sent, make_error_code(errc::unavailable), std::move(words)};
  }

  // Once nobody is left who could tell.
  void complain() {
    if (known_ || closing_ || complained_) return;
    if (!std::all_of(scouts_.begin(), scouts_.end(), [](const scout& s) { return !s.trouble.empty(); })) return;
    complained_ = true;
    outer_->on_down(nobody_told());
  }

  static std::string shown(const core::endpoint& e) { return e.host + ':' + std::to_string(e.port); }

  // The master
  void on_up(const engine::server_facts& f) override {
    complained_ = false;
    outer_->on_up(f);
  }
  void on_down(const failure& f) override {
    away_since_ = clock_->now();
    ask_all();
    if (!std::exchange(complained_, false)) outer_->on_down(f);
  }
  void on_message(std::string_view m) override { outer_->on_message(m); }

  // The loop
  void flush() override {}
  void tick(time_point t) override {
    if (closing_) return;
    for (auto& s : scouts_) {
      if (s.link.is_up() && !s.asked && t >= s.next) ask(s, t);
    }
  }
  time_point due() const override {
    auto t = time_point::max();
    for (const auto& s : scouts_) {
      if (s.link.is_up() && !s.asked) t = std::min(t, s.next);
    }
    return closing_ ? time_point::max() : t;
  }
  bool ready() const override { return false; }
  void drain() override {}
  void deliver() override {}
  void broken(const std::string&) override {}

  loop* loop_;
  const core::clock* clock_;
  log_hook log_;
  std::string name_;
  connection::listener* outer_ = nullptr;
  std::deque<scout> scouts_;
  std::optional<master> known_;
  time_point away_since_{};
  bool complained_ = false, closing_ = false;
  std::size_t open_links_ = 0;
  core::function<void()> closed_;
};

std::unique_ptr<deployment> make_sentinel(loop& l, materials m) { return std::make_unique<sentinel>(l, m); }

}  // namespace tyer::redis
