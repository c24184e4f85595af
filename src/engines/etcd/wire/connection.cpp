#include "engines/etcd/wire/connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

namespace tyer::etcd::wire {

namespace asio = boost::asio;

namespace {

// The first of two name servers that is dead costs 5 s with the system's usual settings, and its second try 5 s more.
constexpr std::chrono::seconds look_up_max{15};

}  // namespace

connection::connection(asio::io_context& c, core::endpoint to, const config& given, host& h)
    : context_(c),
      to_(std::move(to)),
      config_(given.tls ? with_files_of_now(given) : given),
      terms_{to_.host, given.verify, !config_.cert.empty()},
      host_(&h),
      socket_(c) {}

void connection::start() {
  asio::post(context_, [self = shared_from_this()] {
    if (self->host_ != nullptr) self->look_up();
  });
}

void connection::end() {
  host_ = nullptr;
  lookup_.forget();
  error_code ignored;
  socket_.close(ignored);
}

void connection::fail(std::string words) {
  host* const h = host_;
  end();
  if (h != nullptr) h->on_lost(words);
}

std::string connection::shown() const {
  const bool six = to_.host.find(':') != to_.host.npos && to_.host.front() != '[';
  return (six ? '[' + to_.host + ']' : to_.host) + ':' + std::to_string(to_.port);
}

// --- name and address ---

void connection::look_up() {
  lookup_.start(context_, to_.host, to_.port, [this](const error_code& e, net::lookup::addresses found) {
    const auto self = shared_from_this();
    if (e) return fail("the host name " + to_.host + " cannot be resolved: " + e.message());
    addresses_ = std::move(found);
    try_next();
  });
}

bool connection::open(const tcp::endpoint& at) {
  error_code e;
  socket_.close(e);
  const int fd = ::socket(at.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    why_ = "no socket can be opened: " + std::generic_category().message(errno);
    return false;
  }
  socket_.assign(at.protocol(), fd, e);
  if (e) {
    ::close(fd);
    why_ = e.message();
    return false;
  }
  socket_.non_blocking(true, e);
  socket_.set_option(tcp::no_delay{true}, e);
  return true;
}

void connection::try_next() {
  step_ = step::connecting;
  while (next_ < addresses_.size() && !open(addresses_[next_])) ++next_;
  if (next_ == addresses_.size()) return fail("cannot connect to " + shown() + ": " + why_);
  host_->on_step();
  socket_.async_connect(addresses_[next_], [self = shared_from_this()](const error_code& e) {
    if (self->host_ == nullptr) return;
    if (!e) return self->config_.tls ? self->secure() : self->be_connected();
    self->why_ = e == asio::error::operation_aborted ? "no answer in time" : e.message();
    ++self->next_;
    self->try_next();
  });
}

std::chrono::milliseconds connection::allowed(std::chrono::milliseconds attempt) const {
  if (step_ == step::looking_up) return std::max<std::chrono::milliseconds>(attempt, look_up_max);
  if (step_ != step::connecting) return attempt;
  return attempt / static_cast<std::int64_t>(std::max<std::size_t>(addresses_.size(), 1));
}

bool connection::skip_address() {
  if (step_ != step::connecting || next_ + 1 >= addresses_.size()) return false;
  error_code ignored;
  socket_.close(ignored);  // that attempt comes back, and the next begins
  return true;
}

// --- TLS ---

// Why not, if something is wrong.
std::string connection::load(const config& cfg) {
  error_code e;
  if (!cfg.ca.empty()) {
    tls_->add_certificate_authority(asio::buffer(cfg.ca), e);
    if (e) return "?ca=" + cfg.ca_file + " cannot be read as PEM certificates: " + e.message();
  } else if (cfg.verify) {
    tls_->set_default_verify_paths(e);
  }
  constexpr unsigned char h2[] = {2, 'h', '2'};
  if (SSL_CTX_set_alpn_protos(tls_->native_handle(), h2, sizeof h2) != 0) return "OpenSSL does not offer HTTP/2";
  if (cfg.cert.empty()) return {};
  tls_->use_certificate_chain(asio::buffer(cfg.cert), e);
  if (e) return "?cert=" + cfg.cert_file + " cannot be read as a PEM certificate: " + e.message();
  tls_->use_private_key(asio::buffer(cfg.key), asio::ssl::context::pem, e);
  if (e) return "?key=" + cfg.key_file + " cannot be read as the PEM key of ?cert=: " + e.message();
  return {};
}

void connection::secure() {
  step_ = step::securing;
  host_->on_step();
  auto made = net::tls::new_context();
  if (!made) throw std::bad_alloc{};
  tls_.emplace(made.release());
  if (auto words = load(config_); !words.empty()) return fail(std::move(words));
  secured_.emplace(socket_, *tls_);
  net::tls::expect(secured_->native_handle(), terms_);
  secured_->async_handshake(asio::ssl::stream_base::client, [self = shared_from_this()](const error_code& e) {
    if (self->host_ == nullptr) return;
    auto* ssl = self->secured_->native_handle();
    if (e) {
      return self->fail(self->shown() + ": " + net::tls::explain(ssl, self->terms_, e.message()) + self->advice(e));
    }
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &size);
    if (std::string_view{reinterpret_cast<const char*>(chosen), size} != "h2") {
      return self->fail(self->shown() + " does not speak HTTP/2 over TLS (ALPN h2)");
    }
    self->be_connected();
  });
}

// With TLS 1.3 a server looks at our certificate when the handshake is over for us: its refusal comes as a lost connection.
std::string connection::advice(const error_code& e) const {
  const bool of_tls = e.category() == asio::error::get_ssl_category();
  if (config_.tls && of_tls) {
    const auto error = static_cast<unsigned long>(e.value());
    if (ERR_GET_REASON(error) != SSL_R_WRONG_VERSION_NUMBER) return net::tls::advice(terms_, error);
  }
  if (step_ == step::securing) return "; if that port does not speak TLS, the URI begins with etcd instead of etcds";
  if (step_ == step::greeting && !config_.tls)
    return "; if that port speaks TLS, the URI begins with etcds instead of etcd";
  return {};
}

// --- bytes ---

void connection::be_connected() {
  step_ = step::greeting;
  host_->on_step();
  host_->on_connected();
  if (host_ != nullptr) read();
}

void connection::read() {
  with_stream([this](auto& s) {
    s.async_read_some(asio::buffer(in_), [self = shared_from_this()](const error_code& e, std::size_t n) {
      if (self->host_ == nullptr) return;
      if (e) return self->fail("the connection to " + self->shown() + " was lost: " + e.message() + self->advice(e));
      self->step_ = step::greeted;
      self->host_->on_read({self->in_.data(), n});
      if (self->host_ != nullptr) self->read();
    });
  });
}

void connection::write(std::shared_ptr<const std::string> bytes) {
  writing_ = true;
  with_stream([&](auto& s) {
    asio::async_write(s, asio::buffer(*bytes), [self = shared_from_this(), bytes](const error_code& e, std::size_t) {
      self->writing_ = false;
      if (self->host_ == nullptr) return;
      if (e) return self->fail("the connection to " + self->shown() + " was lost: " + e.message() + self->advice(e));
      self->host_->on_written();
    });
  });
}

std::string connection::too_slow() const {
  switch (step_) {
    case step::looking_up: return "the host name " + to_.host + " was not resolved in time";
    case step::connecting: return "cannot connect to " + shown() + ": no answer in time";
    case step::securing: return shown() + " does not answer: the TLS handshake was not finished in time" + advice({});
    case step::greeting:
    case step::greeted: break;
  }
  return shown() + " does not answer: it did not begin to speak HTTP/2 in time";
}

}  // namespace tyer::etcd::wire
