// One attempt to be connected to a server, and the connection that comes of it: name, TCP, TLS, then bytes.
//
// It is used once: another attempt is another object. Told from inside handlers of Asio.
#pragma once

#include "core/uri.hpp"
#include "engines/etcd/config.hpp"
#include "engines/net/lookup.hpp"
#include "engines/net/tls.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyer::etcd::wire {

class connection : public std::enable_shared_from_this<connection> {
 public:
  class host {
   public:
    virtual void on_step() = 0;  // it has got one step further: allowed() counts from now
    virtual void on_connected() = 0;
    virtual void on_read(std::string_view) = 0;
    virtual void on_written() = 0;
    virtual void on_lost(const std::string& words) = 0;  // the last; perhaps it never was connected

   protected:
    ~host() = default;
  };

  connection(boost::asio::io_context&, core::endpoint, const config&, host&);

  void start();                                    // tells nothing before it returns
  void write(std::shared_ptr<const std::string>);  // one at a time, which stays as it is until on_written()
  bool is_writing() const { return writing_; }
  void end();  // nothing more is told

  // How long the step it is at may take, if an attempt may take so long. A name server is not ours to hurry, and of several
  // addresses one that drops what we send does not use up the time of the others.
  std::chrono::milliseconds allowed(std::chrono::milliseconds attempt) const;
  bool skip_address();  // false: there is no other
  std::string too_slow() const;

 private:
  using error_code = boost::system::error_code;
  using tcp = boost::asio::ip::tcp;
  enum class step { looking_up, connecting, securing, greeting, greeted };

  void look_up();
  void try_next();
  bool open(const tcp::endpoint&);
  void secure();
  std::string load(const config&);
  void be_connected();
  void read();
  void fail(std::string words);
  std::string advice(const error_code&) const;
  std::string shown() const;

  template <class F>
  void with_stream(F act) {
    secured_ ? act(*secured_) : act(socket_);
  }

  boost::asio::io_context& context_;
  const core::endpoint to_;
  const config config_;
  const net::tls::terms terms_;
  host* host_;
  net::lookup lookup_;
  tcp::socket socket_;
  std::optional<boost::asio::ssl::context> tls_;
  std::optional<boost::asio::ssl::stream<tcp::socket&>> secured_;
  std::vector<tcp::endpoint> addresses_;
  std::size_t next_ = 0;
  std::string why_;  // the last address could not be reached
  step step_ = step::looking_up;
  bool writing_ = false;
  std::array<char, 64 << 10> in_;
};

}  // namespace tyer::etcd::wire
