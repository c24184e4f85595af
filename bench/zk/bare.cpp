#include "common/beside.hpp"
#include "core/id.hpp"
#include "core/uri.hpp"
#include "engines/zookeeper/line.hpp"
#include "engines/zookeeper/wire/codec.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <deque>
#include <stdexcept>

namespace bench {

namespace {

namespace asio = boost::asio;
namespace zk = tyer::zookeeper;
namespace wire = tyer::zookeeper::wire;
using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
using wire::op;

// One name, looked at, locked and unlocked in turn.
struct cycle {
  std::string container, node;
  enum class step { look, create, ask, remove } next = step::look;
};

class bare {
 public:
  bare(const std::string& uri, int deep) {
    const auto parsed = tyer::core::parse_uri(uri);
    if (parsed.error) throw std::runtime_error(parsed.error.words);
    const auto& to = parsed.value.hosts.front();
    asio::connect(socket_, asio::ip::tcp::resolver{loop_}.resolve(to.host, std::to_string(to.port)));
    socket_.set_option(asio::ip::tcp::no_delay{true});
    wire::writer greeting;
    greeting.number(0).big(0).number(20'000).big(0).text(std::string(16, '\0')).flag(false);
    out_ = wire::writer{}.text(greeting.take()).take();
    packet();
    for (const char* path : {"/bare", "/bare/q"}) make(path);
    for (int i = 0; i < deep; ++i) {
      auto& c = cycles_.emplace_back();
      c.container = "/bare/q/bench" + std::to_string(i);
      make(c.container);  // no container: one that is empty could be swept
    }
  }

  std::deque<cycle>& cycles() { return cycles_; }

  void go_on(cycle& c) {
    switch (c.next) {
      case cycle::step::look: send(op::get_children, wire::watch_body(c.container, false)); break;
      case cycle::step::create:
        send(op::create_stat,
             wire::create_body(c.container + '/' + zk::new_node(tyer::engine::mode::exclusive, ids_.next(), 1, 1),
                               zk::write(record_), rights_, wire::node_kind::ephemeral_sequential));
        send(op::exists, wire::watch_body(c.container, false));
        flying_.push_back(&c);
        break;
      case cycle::step::ask: return;  // that is on its way
      case cycle::step::remove: send(op::remove, wire::version_body(c.node, -1)); break;
    }
    flying_.push_back(&c);
  }

  // The next that was answered.
  cycle& next() {
    const auto body = packet();
    auto& c = *flying_.front();
    flying_.pop_front();
    wire::reader r{body};
    r.number();
    r.big();
    if (r.number() != wire::ok) throw std::runtime_error("unexpected answer");
    switch (c.next) {
      case cycle::step::look: c.next = cycle::step::create; break;
      case cycle::step::ask: c.next = cycle::step::remove; break;
      case cycle::step::create:
        c.node = r.text();
        c.next = cycle::step::ask;
        break;
      case cycle::step::remove: c.next = cycle::step::look; break;
    }
    return c;
  }

 private:
  void send(op what, std::string_view body) {
    wire::writer w;
    w.number(static_cast<std::int32_t>(8 + body.size()))
        .number(++xid_)
        .number(static_cast<std::int32_t>(what))
        .raw(body);
    out_ += w.take();
  }

  void make(const std::string& path) {
    send(op::create, wire::create_body(path, {}, rights_, wire::node_kind::lasting));
    packet();
  }

  // All that waits leaves when there is nothing to read.
  std::string packet() {
    for (;;) {
      if (const auto p = in_.next()) {
        std::string body{*p};
        in_.done();
        return body;
      }
      if (!out_.empty()) asio::write(socket_, asio::buffer(std::exchange(out_, {})));
      in_.add({chunk_.data(), socket_.read_some(asio::buffer(chunk_))});
    }
  }

  asio::io_context loop_;
  asio::ip::tcp::socket socket_{loop_};
  tyer::core::random_ids ids_;
  std::vector<wire::acl> rights_{wire::acl{}};
  zk::record record_{10s, 22'500ms, 0, 0, {}, "host pid 1 bench cycles.cpp:1"};
  std::int32_t xid_ = 0;
  std::string out_;
  std::array<char, 64 * 1024> chunk_{};
  wire::framer in_;
  std::deque<cycle> cycles_;
  std::deque<cycle*> flying_;
};

}  // namespace

double bare_pipelined(const std::string& uri, int deep, milliseconds run) {
  bare b{uri, deep};
  std::uint64_t cycles = 0;
  const auto begin = clock::now();
  for (auto& c : b.cycles()) b.go_on(c);
  for (int under_way = deep; under_way > 0;) {
    auto& c = b.next();
    const bool over = c.next == cycle::step::look;
    cycles += over ? 1 : 0;
    over&& clock::now() - begin >= run ? void(--under_way) : b.go_on(c);
  }
  return static_cast<double>(cycles) / std::chrono::duration<double>(clock::now() - begin).count();
}

std::vector<double> bare_sequential(const std::string& uri, milliseconds run) {
  bare b{uri, 1};
  auto& c = b.cycles().front();
  std::vector<double> usec;
  for (const auto begin = clock::now(); clock::now() - begin < run;) {
    const auto t = clock::now();
    for (int i = 0; i < 4; ++i) {
      b.go_on(c);
      b.next();
    }
    usec.push_back(std::chrono::duration<double, std::micro>(clock::now() - t).count());
  }
  return usec;
}

}  // namespace bench
