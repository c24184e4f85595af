// When a client certificate is named as the reason: when the server asks for one and has none, and never by one who has been let
// in. The real wire connects, to a server with TLS that speaks as much HTTP/2 as it takes to be let in.
#include "core/clock.hpp"
#include "engines/etcd/wire/wire.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace tyer::etcd {
namespace {

using namespace std::chrono_literals;

template <auto Free>
struct freed {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
template <class T, auto Free>
using owned = std::unique_ptr<T, freed<Free>>;

enum class farewell : std::uint8_t { asks_for_a_certificate, lets_in_and_dies, lets_in_and_says_goodbye };

class tls_server {
 public:
  explicit tls_server(farewell how) : how_(how), context_(SSL_CTX_new(TLS_server_method())) {
    const owned<EVP_PKEY, EVP_PKEY_free> key{EVP_EC_gen("P-256")};
    const owned<X509, X509_free> own{X509_new()};
    X509_gmtime_adj(X509_getm_notBefore(own.get()), -60);
    X509_gmtime_adj(X509_getm_notAfter(own.get()), 3600);
    X509_set_pubkey(own.get(), key.get());
    X509_sign(own.get(), key.get(), EVP_sha256());
    SSL_CTX_use_certificate(context_.get(), own.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
    SSL_CTX_set_alpn_select_cb(
        context_.get(),
        [](SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char*, unsigned, void*) {
          *chosen = reinterpret_cast<const unsigned char*>("h2");
          *size = 2;
          return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
    if (how_ == farewell::asks_for_a_certificate) {
      SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size);
    port_ = ntohs(at.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& end) { serve(end); }};
  }
  tls_server(const tls_server&) = delete;
  ~tls_server() {
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
  }

  std::uint16_t port() const { return port_; }
  bool let_in() const { return let_in_; }

 private:
  void serve(const std::stop_token& end) {
    while (!end.stop_requested()) {
      pollfd p{listener_, POLLIN, 0};
      if (::poll(&p, 1, 20) <= 0) continue;
      const int to = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (to < 0) continue;
      const timeval patience{5, 0};  // of a client that says nothing
      ::setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      speak(to);
      ::close(to);
    }
  }
  // A socket that is closed with something unread is reset, and that may overtake what the client was told before.
  static void read_all(int from) {
    ::shutdown(from, SHUT_WR);
    for (std::array<char, 4096> some{}; ::read(from, some.data(), some.size()) > 0;) {}
  }
  // An empty SETTINGS frame, and what the client says until it has asked for something.
  void speak(int to) {
    const owned<SSL, SSL_free> ssl{SSL_new(context_.get())};
    SSL_set_fd(ssl.get(), to);
    if (SSL_accept(ssl.get()) != 1) return read_all(to);
    constexpr std::array<char, 9> settings{0, 0, 0, 4, 0, 0, 0, 0, 0};
    if (SSL_write(ssl.get(), settings.data(), settings.size()) <= 0) return;
    std::array<char, 4096> some{};
    for (std::string all; all.find("Status") == all.npos;) {
      const int n = SSL_read(ssl.get(), some.data(), some.size());
      if (n <= 0) return;
      all.append(some.data(), static_cast<std::size_t>(n));
      if (all.size() > 100) break;  // the preface, its settings, and a request with packed headers
    }
    let_in_ = true;
    if (how_ == farewell::lets_in_and_says_goodbye) SSL_shutdown(ssl.get());
  }

  const farewell how_;
  const owned<SSL_CTX, SSL_CTX_free> context_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> let_in_ = false;
  std::jthread thread_;
};

struct etcd_certificate : ::testing::Test {
  static std::string words_of(const tls_server& server) {
    const core::boot_clock clock;
    wire::loop loop{clock};
    config c;
    c.tls = true;
    c.verify = false;
    const auto channel = wire::connect(loop, {"127.0.0.1", server.port()}, c, 10s);
    std::string said;
    bool over = false;
    const auto call = wire::call({channel, "/etcdserverpb.Maintenance/Status", {}}, {}, 10s,
                                 [&](const wire::status& s, const std::string&) {
                                   over = true;
                                   said = s.words;
                                 });
    while (!over) loop.run(clock.now() + 20ms);
    return said;
  }
};

TEST_F(etcd_certificate, is_named_where_the_server_asks_for_one) {
  const tls_server server{farewell::asks_for_a_certificate};
  const auto said = words_of(server);
  EXPECT_NE(said.find("?cert=FILE"), std::string::npos) << said;
  EXPECT_FALSE(server.let_in());
}

// It was: whenever a server with TLS was killed.
TEST_F(etcd_certificate, is_not_blamed_by_one_who_has_been_let_in) {
  for (const auto how : {farewell::lets_in_and_dies, farewell::lets_in_and_says_goodbye}) {
    const tls_server server{how};
    const auto said = words_of(server);
    EXPECT_TRUE(server.let_in()) << said;
    EXPECT_NE(said.find("was lost"), std::string::npos) << said;
    EXPECT_EQ(said.find("cert"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace tyer::etcd
