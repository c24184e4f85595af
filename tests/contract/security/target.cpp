#include "contract/security/target.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace security {

using namespace std::chrono_literals;

namespace {

// Far longer than a refusal takes.
constexpr auto patience = 20s;

}  // namespace

std::string percent_encoded(const std::string& text) {
  std::string out;
  for (const char c : text) {
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    out += plain ? std::string(1, c) : code;
  }
  return out;
}

std::string secret_in(const std::string& text) {
  for (const auto& secret : {std::string{"hunter2"}, sentinel_password, user}) {
    if (text.find(secret) != text.npos) return secret;
  }
  return {};
}

namespace {

bool kind_is_of(std::string_view family) { return std::string_view{std::getenv("TYER_KIND")}.starts_with(family); }

}  // namespace

bool asked_of_etcd() { return kind_is_of("etcd"); }
bool asked_of_zookeeper() { return kind_is_of("zk"); }
bool asked_of_redis() { return !asked_of_etcd() && !asked_of_zookeeper(); }

std::string_view said_of_those_away() {
  if (asked_of_zookeeper()) return "ZooKeeper: ";
  return asked_of_redis() ? "cannot connect to" : "etcd: ";
}

target::target(const std::string& options) : server_(options), address_(tyer::core::parse_uri(server_.uri()).value) {}

bool target::has_sentinels() const { return scheme().ends_with("+sentinel"); }

std::string target::hosts(const std::string& instead) const {
  std::string all;
  for (const auto& e : address_.hosts) {
    all += (all.empty() ? "" : ",") + (instead.empty() ? e.host : instead) + ":" + std::to_string(e.port);
  }
  return all;
}

bool target::is_database() const { return scheme() == "postgres" || scheme() == "mysql"; }

// A database has a login, and tables that must be made; ZooKeeper has several kinds of logins.
std::string target::uri(const std::string& who, const std::string& query, const std::string& host) const {
  const std::string always = is_database() ? "schema=apply" : asked_of_zookeeper() && !who.empty() ? "auth=sasl" : "";
  const auto all = always + (always.empty() || query.empty() ? "" : "&") + query;
  const auto as = is_database() && who.empty() ? login(address_.user, address_.password) : who;
  return scheme() + "://" + as + hosts(host) + path() + (all.empty() ? "" : "?" + all);
}

std::string target::dead_hosts() const {
  std::string hosts;
  for (std::size_t port = 1; port <= address_.hosts.size(); ++port) {
    hosts += (hosts.empty() ? "" : ",") + std::string{"127.0.0.1:"} + std::to_string(port);
  }
  return hosts;
}

// Written into the files that there are, whose owner may be another: the one that the servers run as.
void target::exchange_certificates() {
  const std::string tool = TYER_ENGINES_TOOL, made = server_.folder() + "/tls-new";
  const auto lib = tool.substr(0, tool.rfind('/')) + "/lib";
  const auto line = "python3 -B -c \"import sys; sys.path.insert(0, '" + lib +
                    "'); import throwaway_tls; throwaway_tls.make('" + made + "')\" && cd '" + made +
                    "' && for f in *.crt *.key; do cat $f > ../tls/$f || exit 1; done && rm -r '" + made + "'";
  if (std::system(line.c_str()) != 0) throw std::runtime_error("no new certificates: " + line);
}

std::string target::login(const std::string& user, const std::string& password) {
  return percent_encoded(user) + ":" + percent_encoded(password) + "@";
}

std::string target::sentinel_login(const std::string& user, const std::string& password) const {
  if (!has_sentinels()) return {};
  return "&sentinel_user=" + percent_encoded(user) + "&sentinel_password=" + percent_encoded(password);
}

talk::talk(const std::string& uri, std::chrono::milliseconds limit) {
  tyer::client_options options;
  options.request_timeout = limit;
  options.log = [this](tyer::log_level, std::string_view line) { hear(line); };
  options.on_event = [this](const tyer::event& e) { hear(e.text + '\n' + e.words + '\n' + e.server); };
  try {
    client_.emplace(uri, options);
  } catch (const tyer::error& e) {
    hear(e.what());
    hear(e.words());
    return;
  }
  const auto give_up = std::chrono::steady_clock::now() + patience;
  tyer::failure why;
  do {
    ready_ = client_->wait_ready(why, 50ms);
  } while (!ready_ && why.words.empty() && std::chrono::steady_clock::now() < give_up);
  hear(why);
}

bool talk::comes_up() {
  tyer::failure why;
  return client_ && client_->wait_ready(why, patience);
}

bool talk::locks() {
  if (!client_) return false;
  tyer::failure why;
  tyer::mutex lock{*client_, "secret/lock"};
  tyer::hold h = lock.try_acquire(why);
  hear(why);
  const bool granted = static_cast<bool>(h);
  if (granted) static_cast<void>(h.release(why));  // before anything happens to the servers
  return granted;
}

void talk::observes(const std::string& name) {
  observations_.push_back(tyer::election{*client_, name}.observe([](const auto&) {}));
}

std::string talk::said() {
  const std::lock_guard guard{mutex_};
  return said_;
}

bool talk::says(std::string_view words) {
  const auto give_up = std::chrono::steady_clock::now() + patience;
  while (said().find(words) == std::string::npos) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

void talk::hear(std::string_view text) {
  const std::lock_guard guard{mutex_};
  said_ += std::string{text} + "\n";
}

void talk::hear(const tyer::failure& f) {
  if (!f) return;
  hear(f.words);
  hear(tyer::error{f}.what());
}

}  // namespace security
