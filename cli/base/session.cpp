#include "base/session.hpp"

#include "base/mistakes.hpp"
#include "base/no_engine.hpp"
#include "base/spelling.hpp"
#include "base/trouble.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <tyer/async.hpp>

#include <algorithm>
#include <cctype>
#include <future>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// While an engine is not reached: whether it says for good that it is another.
constexpr milliseconds look_every = 500ms;

// The library's error for an unknown scheme lists all known ones.
std::vector<std::string> schemes_in(const std::string& words) {
  std::vector<std::string> all;
  std::istringstream in{words};
  for (std::string w; in >> w;) {
    if (w.ends_with("://")) all.push_back(w.substr(0, w.size() - 3));
  }
  return all;
}

// A typing error, or an engine that this tyer was built without: then the library names the component.
std::string advice_on_scheme(std::string_view url, const std::string& words) {
  if (words.find("needs the component") != words.npos)
    return "This tyer was built without that engine; `tyer version` lists those it has.";
  const auto meant = nearest(url.substr(0, url.find("://")), schemes_in(words));
  return meant.empty() ? "`tyer version` lists the engines this tyer has." : "Did you mean " + meant + "://?";
}

// Of "the option ?tll= is not known to redis://, which knows ?prefix= ?protocol=": there the library lists them all. Empty if
// it says something else.
std::string advice_on_option(const std::string& words) {
  constexpr std::string_view before = "the option ?", list = ", which knows";
  const auto end = words.find("= is not known to"), known_at = words.find(list);
  if (!words.starts_with(before) || end == words.npos || known_at == words.npos) return {};
  std::vector<std::string> known;
  std::istringstream in{words.substr(known_at + list.size())};
  for (std::string w; in >> w;) known.push_back(w.substr(1, w.size() - 2));
  known.emplace_back("ttl");  // where people look for it, and it is none
  const auto meant = nearest(words.substr(before.size(), end - before.size()), known);
  if (meant == "ttl") return "The ttl belongs to each lock, and not to the URL: tyer run --ttl 30s. ";
  return meant.empty() ? "" : "Did you mean ?" + meant + "=? ";
}

// Refers to the doctor only if something may answer there: else it could not say more than this.
std::string advice_on_silence(const std::string& words) {
  const auto said = [&](const char* what) { return words.find(what) != words.npos; };
  if (said("cannot be resolved")) return "Correct the host name in the URL, or check DNS and /etc/hosts.";
  const std::string places =
      "Check that a server runs there, that host and port of the URL are right, on which addresses it listens,\n"
      "whether it needs TLS (rediss://, etcds://) or not (redis://, etcd://), and that no firewall is in between.";
  return said("Connection refused") ? places : places + "\nWhat answers there instead: tyer doctor";
}

std::string sentence(std::string_view advice) {
  std::string text{advice};
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text + '.';
}

trouble not_reached(const std::string& where, const tyer::failure& why) {
  const bool named = why.words.find(where) != why.words.npos;
  const auto told = trouble_of(why, named ? "" : "cannot reach " + where);
  const std::string from = "`tyer config show` says where the URL is set.";
  if (why.code == tyer::errc::refused && why.words.find(" the database ") != why.words.npos)
    return {told.code(), told.what(), from};
  if (why.code == tyer::errc::refused && lacks_a_right(why.words))
    return {told.code(), told.what(), "The server knows this login, which lacks that right. " + from};
  if (why.code == tyer::errc::refused)
    return {told.code(), told.what(),
            "The server runs, but refuses this login: check user and password in the URL,\n"
            "as …://USER:PASSWORD@HOST, and their permissions. " +
                from};
  if (const auto* known = mistake_in(why.words))
    return {told.code(), told.what(),
            (known->advice.empty() ? "" : sentence(known->advice) + ' ') + from +
                (known->doctor_says_more ? "\nWhat answers there instead: tyer doctor" : "")};
  return {told.code(), told.what(), advice_on_silence(told.what())};
}

tyer::client open_found(settings found, tyer::client_options with, std::string_view option = {}) {
  if (found.url.empty()) throw no_engine();
  if (!option.empty()) found.url += (found.url.find('?') == found.url.npos ? '?' : '&') + std::string{option};
  with.prefix = found.prefix;
  if (with.label.empty()) with.label = "tyer";
  try {
    return tyer::client{found.url, std::move(with)};
  } catch (const tyer::error& e) {
    if (e.code() == tyer::errc::invalid_uri)
      throw trouble(exit_code::usage, "the URL cannot be understood: " + e.words(),
                    advice_on_option(e.words()) + "It comes from " + found.source + '.');
    if (e.code() == tyer::errc::no_engine)
      throw trouble(exit_code::usage, e.words(),
                    advice_on_scheme(found.url, e.words()) +
                        "\n"
                        "The URL comes from " +
                        found.source + '.');
    throw;
  }
}

tyer::failure wait_ready(tyer::client& c, milliseconds at_most, const std::stop_token& stop) {
  const auto told =
      std::make_shared<std::promise<tyer::failure>>();  // shared: set_value() may still run when we have the answer
  tyer::start_wait_ready(c, at_most, [told](const tyer::failure& why) { told->set_value(why); }, stop);
  return told->get_future().get();
}

}  // namespace

tyer::client session::open(tyer::client_options with, std::string_view option) {
  return open_found(find_settings(options_.engine), std::move(with), option);
}

tyer::client session::open_beside(const std::string& url, const std::string& option) {
  return open_found(find_settings_beside(options_.engine, url, option), {});
}

tyer::failure session::try_to_reach(tyer::client& c, std::chrono::milliseconds at_most, const std::stop_token& stop) {
  const bool alone = tyer::admin{c}.address().find(',') == std::string::npos;
  if (alone) return try_until(c, at_most, is_for_good, stop);
  return try_until(
      c, at_most, [](std::string_view) { return false; }, stop);  // another of the servers may be the right one
}

tyer::failure session::try_until(tyer::client& c, std::chrono::milliseconds at_most, const judge& hopeless,
                                 const std::stop_token& stop) {
  const auto where = tyer::admin{c}.address();
  const progress waiting{terminal_, [&] { return "connecting to " + short_address(where); }};
  for (const auto end = std::chrono::steady_clock::now() + at_most;;) {
    const auto left = std::max(std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now()), 0ms);
    const auto next = std::min(left, look_every);
    auto why = wait_ready(c, next, stop);
    if (why != tyer::errc::unavailable || next == left || hopeless(why.words)) return why;
  }
}

void session::reach(tyer::client& c, const std::stop_token& stop) {
  const auto why = try_to_reach(c, options_.connect_timeout.value_or(connect_timeout_usual), stop);
  if (why == tyer::errc::cancelled) throw tyer::error(why);
  if (why) throw not_reached(tyer::admin{c}.address(), why);
}

std::string session::prefix() const { return find_settings(options_.engine).prefix_in_use(); }

tyer::failure session::try_client(std::chrono::milliseconds at_most, const judge& hopeless) {
  if (!client_) client_ = std::make_unique<tyer::client>(open());
  const auto why = try_until(*client_, at_most, hopeless);
  reached_ = !why;
  return why;
}

std::string session::address() {
  if (!client_) client_ = std::make_unique<tyer::client>(open());
  return tyer::admin{*client_}.address();
}

tyer::client& session::client() {
  if (!client_) client_ = std::make_unique<tyer::client>(open());
  if (!reached_) reach(*client_);
  reached_ = true;
  return *client_;
}

}  // namespace cli
