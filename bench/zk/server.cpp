#include "zk/server.hpp"

#include "core/uri.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <stdexcept>

namespace bench {

namespace asio = boost::asio;

zk_server::zk_server(const std::string& uri) {
  const auto parsed = tyer::core::parse_uri(uri);
  if (parsed.error) throw std::runtime_error(parsed.error.words);
  host_ = parsed.value.hosts.front().host;
  port_ = std::to_string(parsed.value.hosts.front().port);
}

std::string zk_server::ask(const std::string& word) const {
  asio::io_context loop;
  asio::ip::tcp::socket socket{loop};
  asio::connect(socket, asio::ip::tcp::resolver{loop}.resolve(host_, port_));
  asio::write(socket, asio::buffer(word));
  std::string all;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(all), end);
  return all;
}

std::uint64_t zk_server::number(const std::string& key) const {
  const auto all = ask("mntr");
  const auto at = all.find('\n' + key + '\t');
  if (at == all.npos) throw std::runtime_error("mntr has no " + key);
  return std::stoull(all.substr(at + key.size() + 2));
}

std::uint64_t zk_server::requests() const { return number("zk_packets_received"); }
std::uint64_t zk_server::connections() const { return number("zk_num_alive_connections") - 1; }

std::uint64_t zk_server::writes() const {
  const auto all = ask("srvr");
  const std::string key = "Zxid: 0x";
  const auto at = all.find(key);
  if (at == all.npos) throw std::runtime_error("srvr has no zxid");
  return std::stoull(all.substr(at + key.size()), nullptr, 16);
}

}  // namespace bench
