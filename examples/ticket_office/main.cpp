// A small HTTP service. Several of them stand behind a load balancer and sell the same tickets; tools/examples starts them
// with nginx, and ends some of them.
//
//   ticket_office open DATABASE TICKETS        makes the tables
//   ticket_office serve PORT ENGINE DATABASE PAGE
//
//   POST /buy      GET /state      GET /
#include "office.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using tcp = boost::asio::ip::tcp;
using ticket_office::office;
using ticket_office::sale;

using answer = http::response<http::string_body>;

answer say(http::status status, const char* type, std::string text) {
  answer a{status, 11};
  a.set(http::field::content_type, type);
  a.set(http::field::cache_control, "no-store");
  a.body() = std::move(text);
  return a;
}

http::status status_of(sale s) {
  switch (s) {
    case sale::sold: return http::status::ok;
    case sale::sold_out: return http::status::gone;
    case sale::busy: return http::status::service_unavailable;
    case sale::refused: return http::status::conflict;
  }
  return http::status::internal_server_error;
}

answer serve(office& o, const http::request<http::string_body>& asked, const std::string& page) try {
  if (asked.method() == http::verb::post && asked.target() == "/buy") {
    const sale s = o.sell();
    return say(status_of(s), "text/plain", ticket_office::words(s));
  }
  if (asked.target() == "/state") return say(http::status::ok, "application/json", o.state());
  if (asked.target() == "/") return say(http::status::ok, "text/html; charset=utf-8", page);
  return say(http::status::not_found, "text/plain", "nothing here");
} catch (const std::exception& e) {  // the engine or the database is away: the next request may find it again
  return say(http::status::service_unavailable, "text/plain", e.what());
}

// One thread for a connection: a sale waits for its turn anyway, and nginx keeps the connections few.
void talk(tcp::socket socket, office& o, const std::string& page) try {
  beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> asked;
    http::read(socket, buffer, asked);
    auto a = serve(o, asked, page);
    a.keep_alive(asked.keep_alive());
    a.prepare_payload();
    http::write(socket, a);
    if (!asked.keep_alive()) return;
  }
} catch (const std::exception&) {  // it has gone
}

void listen(unsigned short port, office& o, const std::string& page) {
  boost::asio::io_context context;
  tcp::acceptor door{context, {boost::asio::ip::make_address("127.0.0.1"), port}};
  for (;;) {
    tcp::socket socket{context};
    door.accept(socket);
    std::thread{talk, std::move(socket), std::ref(o), std::cref(page)}.detach();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "open" && argc == 4) {
    office::open_sale(argv[2], std::stoi(argv[3]));
    return 0;
  }
  if (what != "serve" || argc != 6)
    throw std::runtime_error("usage: ticket_office open|serve ... (see its first lines)");
  std::ifstream file{argv[5]};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  office o{argv[3], argv[4]};
  listen(static_cast<unsigned short>(std::stoi(argv[2])), o, page);
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
