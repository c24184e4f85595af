#include "engines/zookeeper/wire/connection.hpp"

#include "engines/net/lookup.hpp"
#include "engines/net/tls.hpp"
#include "engines/zookeeper/wire/socket.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <utility>

namespace tyer::zookeeper::wire {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr milliseconds attempt_least = 500ms, attempt_max = 10s;
constexpr milliseconds pause_least = 20ms, pause_most = 1s;  // between attempts
constexpr milliseconds worked_for = 1s;                      // else it counts as an attempt that failed

}  // namespace

// One attempt, and the connection that came of it. Its handlers keep it, and do nothing once it is cut.
class connection::line : public std::enable_shared_from_this<line> {
 public:
  line(connection& home, const core::endpoint& to, bool tls)
      : home_(&home),
        loop_(home.loop_),
        host_(to.host),
        port_(to.port != 0 ? to.port : default_port),
        tls_(tls),
        terms_{to.host, home.where_->files.verify, !home.where_->files.cert.empty()},
        socket_(home.loop_->context()) {}

  void start() {
    lookup_.start(loop_->context(), host_, port_, [this](const error_code& e, net::lookup::addresses found) {
      const auto me = shared_from_this();
      if (e) return lost("cannot look up " + host_ + ": " + e.message());
      connect(std::move(found));
    });
  }

  void write(std::string bytes) {
    waiting_ += bytes;
    if (!writing_) write_on();
  }

  void cut() {
    cut_ = true;
    error_code ignored;
    lookup_.forget();
    socket_.close(ignored);
  }

 private:
  void connect(std::vector<tcp::endpoint> to) {
    addresses_ = std::move(to);
    try_address(0, asio::error::host_not_found);
  }

  void try_address(std::size_t which, error_code why) {
    while (which < addresses_.size() && (why = open(socket_, addresses_[which]))) ++which;
    if (which >= addresses_.size()) return lost(host_ + ": " + why.message());
    socket_.async_connect(addresses_[which], [me = shared_from_this(), which](const error_code& e) {
      if (me->cut_) return;
      if (e) return me->try_address(which + 1, e);
      me->tls_ ? me->shake_hands() : me->connected();
    });
  }

  std::string load_files() {
    const auto& files = home_->where_->files;
    error_code e;
    if (!files.ca.empty()) {
      tls_context_->load_verify_file(files.ca, e);
      if (e) return "?ca=" + files.ca + " cannot be read as PEM certificates: " + e.message();
    } else if (files.verify) {
      tls_context_->set_default_verify_paths(e);
    }
    if (files.cert.empty()) return {};
    tls_context_->use_certificate_chain_file(files.cert, e);
    if (e) return "?cert=" + files.cert + " cannot be read as a PEM certificate: " + e.message();
    tls_context_->use_private_key_file(files.key, asio::ssl::context::pem, e);
    if (e) return "?key=" + files.key + " cannot be read as the PEM key of ?cert=: " + e.message();
    return {};
  }

  void shake_hands() {
    auto made = net::tls::new_context();
    if (!made) throw std::bad_alloc{};
    tls_context_.emplace(made.release());
    if (const auto words = load_files(); !words.empty()) return lost(words);
    secured_.emplace(socket_, *tls_context_);
    net::tls::expect(secured_->native_handle(), terms_);
    secured_->async_handshake(asio::ssl::stream_base::client, [me = shared_from_this()](const error_code& e) {
      if (me->cut_) return;
      if (e) return me->lost(me->refused(e));
      me->connected();
    });
  }

  std::string refused(const error_code& e) {
    return host_ + ": " + net::tls::explain(secured_->native_handle(), terms_, e.message()) + advice(e);
  }

  // With TLS 1.3 a server looks at our certificate when the handshake is over for us: its refusal comes as a lost connection.
  std::string advice(const error_code& e) const {
    const bool of_tls = tls_ && e.category() == asio::error::get_ssl_category();
    return of_tls ? net::tls::advice(terms_, static_cast<unsigned long>(e.value())) : "";
  }

  void connected() {
    tell([](connection& c) { c.on_connected(); });
    read();
  }

  void read() {
    const auto back = [me = shared_from_this()](const error_code& e, std::size_t n) {
      if (me->cut_) return;
      if (e) return me->lost(me->host_ + " has closed the connection: " + e.message() + me->advice(e));
      me->tell([bytes = std::string{me->in_.data(), n}](connection& c) mutable { c.on_bytes(std::move(bytes)); });
      me->read();
    };
    tls_ ? secured_->async_read_some(asio::buffer(in_), back) : socket_.async_read_some(asio::buffer(in_), back);
  }

  void write_on() {
    writing_ = !waiting_.empty() && !cut_;
    if (!writing_) return;
    going_ = std::exchange(waiting_, {});
    const auto back = [me = shared_from_this()](const error_code& e, std::size_t) {
      if (me->cut_) return;
      if (e) return me->lost(me->host_ + ": " + e.message());
      me->write_on();
    };
    tls_ ? asio::async_write(*secured_, asio::buffer(going_), back)
         : asio::async_write(socket_, asio::buffer(going_), back);
  }

  void lost(const std::string& words) {
    tell([words](connection& c) { c.on_lost(words); });
  }

  template <class F>
  void tell(F what) {
    loop_->note([me = shared_from_this(), what = std::move(what)](engine::events*) mutable {
      if (!me->cut_) what(*me->home_);
    });
  }

  connection* home_;
  loop* loop_;
  const std::string host_;
  const std::uint16_t port_;
  const bool tls_;
  bool cut_ = false, writing_ = false;
  const net::tls::terms terms_;
  tcp::socket socket_;
  std::optional<asio::ssl::context> tls_context_;
  std::optional<asio::ssl::stream<tcp::socket&>> secured_;
  net::lookup lookup_;
  std::vector<tcp::endpoint> addresses_;
  std::array<char, 64 * 1024> in_;
  std::string waiting_, going_;
};

connection::connection(loop& l, const core::clock& c, const where& w, std::size_t first_host, milliseconds timeout,
                       listener& told)
    : loop_(&l), clock_(&c), where_(&w), next_host_(first_host), listener_(&told), session_(told, timeout, w.who) {}

connection::~connection() { end(); }

void connection::end() {
  state_ = state::ended;
  if (line_) line_->cut();
  line_.reset();
}

void connection::attempt(time_point now) {
  const auto& to = where_->hosts[next_host_++ % where_->hosts.size()];
  server_ = to.host + ':' + std::to_string(to.port != 0 ? to.port : default_port);
  state_ = state::connecting;
  const auto share =
      session_.timeout().count() > 0 ? std::max(session_.timeout() / session::pings, attempt_least) : attempt_max;
  give_up_at_ = now + std::min(share, attempt_max);
  line_ = std::make_shared<line>(*this, to, where_->tls);
  line_->start();
}

void connection::on_connected() {
  state_ = state::connected;
  session_.connected(server_.substr(0, server_.rfind(':')), clock_->now());
}

void connection::on_bytes(std::string bytes) {
  const auto with = line_;
  const bool well = session_.received(bytes, clock_->now());
  if (line_ != with || state_ == state::ended) return;
  if (!well) on_lost(server_ + ": " + session_.words());
}

void connection::leave(const std::string& words) {
  if (line_ || session_.in_flight() > 0) on_lost(server_ + ": " + words);
}

// The next server is tried at once, the same one again only after a pause.
void connection::on_lost(const std::string& words) {
  if (state_ == state::ended) return;
  if (line_) line_->cut();
  line_.reset();
  const bool gone = session_.gone(), refused = session_.refused();
  if (session_.up() && clock_->now() - session_.greeted() >= worked_for) failures_ = 0;
  state_ = gone ? state::ended : state::away;
  const auto round = failures_++ / where_->hosts.size();
  const auto pause = std::min<milliseconds>(pause_most, pause_least * (1U << std::min<std::size_t>(round, 6)));
  next_attempt_ = clock_->now() + (failures_ % where_->hosts.size() != 0 ? 0ms : pause);
  session_.lost();
  if (!gone) listener_->on_down(words, refused);
}

void connection::flush() {
  if (line_ && state_ == state::connected && session_.has_output()) line_->write(session_.take_output(clock_->now()));
}

time_point connection::due() const noexcept {
  switch (state_) {
    case state::away: return next_attempt_;
    case state::connecting: return give_up_at_;
    case state::connected: return session_.due();
    default: return time_point::max();
  }
}

void connection::on_time(time_point now) {
  switch (state_) {
    case state::away:
      if (now >= next_attempt_) attempt(now);
      break;
    case state::connecting:
      if (now >= give_up_at_) on_lost(server_ + " did not answer in time");
      break;
    case state::connected:
      if (!session_.on_time(now)) on_lost(server_ + ": " + session_.words());
      break;
    default: break;
  }
}

}  // namespace tyer::zookeeper::wire
