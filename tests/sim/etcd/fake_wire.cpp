// `wire` (src/engines/etcd/wire/wire.hpp) without a network: linked in its place.
//
// A client is known by the host that it was told to connect to: its number. The port is the number of the server.
#include "sim/etcd/fake_etcd.hpp"
#include "sim/etcd/fake_stream.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tyer::etcd::wire {

namespace sim = tyer::sim;
using sim::etcd::fake_etcd;
using namespace std::chrono_literals;

class loop::body {
 public:
  const std::shared_ptr<sim::etcd::told_in_run> news = std::make_shared<sim::etcd::told_in_run>();
};

class channel {
 public:
  std::size_t client, server;
  std::weak_ptr<sim::etcd::told_in_run> news;
};

namespace {

std::string_view last_word(const char* method) {
  const std::string_view all = method;
  return all.substr(all.rfind('/') + 1);
}

class unary final : public under_way, public std::enable_shared_from_this<unary> {
 public:
  unary(fake_etcd& f, const order& o, std::string request, std::function<void(status, std::string)> back)
      : fake_(f),
        client_(o.to->client),
        server_(o.to->server),
        method_(last_word(o.method)),
        token_(o.token),
        in_run_(o.where == told::in_run),
        news_(o.to->news),
        request_(std::move(request)),
        back_(std::move(back)) {}
  ~unary() = default;

  void cancel() override { end_soon({code::cancelled, "fake: cancelled"}); }

  void forget() { back_ = nullptr; }

  void travel(std::chrono::nanoseconds within) {
    const sim::etcd::exchange what{client_, server_, method_, request_};
    if (within <= 0ns) return end_soon({code::deadline_exceeded, "fake: Deadline Exceeded"});
    ++fake_.calls;
    if (fake_.on_call) fake_.on_call(what);
    if (fake_.bend) fake_.bend(what, request_);
    way_ = fake_.decide(what);
    sent_in_ = fake_.lives;
    const auto deadline = fake_.time.now() + within;
    fake_.time.at(deadline,
                  [self = shared_from_this()] { self->end({code::deadline_exceeded, "fake: Deadline Exceeded"}, {}); });
    if (way_.request_lost) return;
    fake_.time.in(way_.there, [self = shared_from_this(), deadline] { self->arrive(deadline); });
  }

 private:
  void arrive(sim::moment deadline) {
    if (way_.refused || !fake_.is_up(server_) || sent_in_ != fake_.lives)
      return end({code::unavailable, "fake: refused"}, {});
    if (way_.busy) return end({code::resource_exhausted, "etcdserver: too many requests"}, {});
    fake_.at_server(server_, deadline, [self = shared_from_this()] {
      std::string response;
      auto s = self->fake_.check(self->method_, self->token_);
      for (int times = self->way_.repeated ? 2 : 1; s.ok() && times > 0; --times) {
        s = self->fake_.execute(self->server_, self->method_, self->request_, response);
      }
      if (self->way_.answer_lost) return;
      if (self->way_.broken_off) s = {code::unavailable, "fake: broken off"};
      self->fake_.time.in(self->way_.back, [self, s, response] { self->end(s, response); });
    });
  }

  void end_soon(const status& s) {
    fake_.time.in(100us, [self = shared_from_this(), s] { self->end(s, {}); });
  }
  void end(status s, std::string response) {
    if (std::exchange(over_, true)) return;
    fake_.inside(client_, [self = shared_from_this(), s = std::make_shared<status>(std::move(s)),
                           r = std::make_shared<std::string>(std::move(response))] {
      const auto now = [self, s, r] {
        const auto tell = std::exchange(self->back_, nullptr);
        if (tell) tell(*s, s->ok() ? *r : std::string{});
      };
      if (!self->in_run_) return now();
      if (const auto news = self->news_.lock()) news->push_back(now);
    });
  }

  fake_etcd& fake_;
  const std::size_t client_, server_;
  const std::string method_, token_;
  const bool in_run_;
  const std::weak_ptr<sim::etcd::told_in_run> news_;  // gone with the loop: then nobody is told
  std::string request_;
  std::function<void(status, std::string)> back_;
  sim::etcd::journey way_;
  std::uint64_t sent_in_ = 0;  // which life of the servers
  bool over_ = false;
};

}  // namespace

loop::loop(const core::clock&) : body_(std::make_unique<body>()) {}
loop::~loop() { body_->news->clear(); }

bool loop::run(lease_clock::time_point) {
  auto& news = *body_->news;
  while (!news.empty()) {
    const auto first = std::move(news.front());
    news.pop_front();
    first();
  }
  return true;
}
void loop::wake() noexcept {}

bool is_connecting(const channel&) { return fake_etcd::here().connecting; }

std::shared_ptr<channel> connect(loop& l, const core::endpoint& to, const config&, std::chrono::milliseconds) {
  ++fake_etcd::here().connections;
  return std::make_shared<channel>(channel{std::stoul(to.host), to.port, l.inside().news});
}

std::shared_ptr<under_way> call(const order& o, const std::string& request, std::chrono::nanoseconds within,
                                std::function<void(status, std::string)> back) {
  auto u = std::make_shared<unary>(fake_etcd::here(), o, request, std::move(back));
  fake_etcd::here().forget_at_the_end([weak = std::weak_ptr{u}] {
    if (const auto still = weak.lock()) still->forget();
  });
  u->travel(within);
  return u;
}

std::shared_ptr<stream> start(const order& o, std::function<void(std::string)> on_message,
                              std::function<void(status)> on_end) {
  auto& fake = fake_etcd::here();
  auto s = std::make_shared<sim::etcd::stream_end>(fake, o.to->news, o.to->client, o.to->server, last_word(o.method),
                                                   o.token, std::move(on_message), std::move(on_end));
  fake.join(s);
  if (!fake.is_up(o.to->server)) s->end({code::unavailable, "fake: refused"});
  return s;
}

void after(loop&, std::chrono::nanoseconds d, std::function<void()> f) {
  auto& fake = fake_etcd::here();
  fake.time.in(std::max(d, 0ns), [&fake, client = fake.acting, f = std::move(f)]() mutable {
    fake.inside(client, [f = std::move(f)] { f(); });
  });
}

}  // namespace tyer::etcd::wire
