#include "base/session.hpp"

#include "base/spelling.hpp"
#include "base/trouble.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <tyer/async.hpp>

#include <future>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace cli {

namespace {

constexpr const char* how_to_say =
    "Name the engine in one of these ways:\n"
    "  tyer --url redis://127.0.0.1:6379 config init       # for you, from now on; --system: for this machine\n"
    "  export TYER_URL=redis://127.0.0.1:6379              # in this shell\n"
    "  tyer --url redis://127.0.0.1:6379 ls                # only this time\n"
    "`tyer version` lists the engines this tyer knows.";

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

// Refers to the doctor only if something may answer there: else it could not say more than this.
std::string advice_on_silence(const std::string& words) {
  const auto said = [&](const char* what) { return words.find(what) != words.npos; };
  if (said("cannot be resolved")) return "Correct the host name in the URL, or check DNS and /etc/hosts.";
  const std::string places =
      "Check that a server runs there, that host and port of the URL are right, on which addresses it listens,\n"
      "whether it needs TLS (rediss://, etcds://) or not (redis://, etcd://), and that no firewall is in between.";
  return said("Connection refused") ? places : places + "\nWhat answers there instead: tyer doctor";
}

trouble not_reached(const std::string& where, const tyer::failure& why) {
  const bool named = why.words.find(where) != why.words.npos;
  const auto told = trouble_of(why, named ? "" : "cannot reach " + where);
  if (why.code == tyer::errc::refused)
    return {told.code(), told.what(),
            "The server runs, but refuses this login: check user and password in the URL,\n"
            "as …://USER:PASSWORD@HOST, and their permissions."};
  return {told.code(), told.what(), advice_on_silence(told.what())};
}

tyer::client open_found(settings found, tyer::client_options with, std::string_view option = {}) {
  if (found.url.empty()) throw trouble(exit_code::usage, "no engine was named", how_to_say);
  if (!option.empty()) found.url += (found.url.find('?') == found.url.npos ? '?' : '&') + std::string{option};
  with.prefix = found.prefix;
  if (with.label.empty()) with.label = "tyer";
  try {
    return tyer::client{found.url, std::move(with)};
  } catch (const tyer::error& e) {
    if (e.code() == tyer::errc::invalid_uri)
      throw trouble(exit_code::usage, "the URL cannot be understood: " + e.words(),
                    "It comes from " + found.source + '.');
    if (e.code() == tyer::errc::no_engine)
      throw trouble(exit_code::usage, e.words(),
                    advice_on_scheme(found.url, e.words()) +
                        "\n"
                        "The URL comes from " +
                        found.source + '.');
    throw;
  }
}

}  // namespace

tyer::client session::open(tyer::client_options with, std::string_view option) {
  return open_found(find_settings(options_.engine), std::move(with), option);
}

tyer::client session::open_beside(const std::string& url, const std::string& option) {
  return open_found(find_settings_beside(options_.engine, url, option), {});
}

tyer::failure session::try_to_reach(tyer::client& c, std::chrono::milliseconds at_most, const std::stop_token& stop) {
  const auto where = tyer::admin{c}.address();
  const progress waiting{terminal_, [&] { return "connecting to " + short_address(where); }};
  const auto told =
      std::make_shared<std::promise<tyer::failure>>();  // shared: set_value() may still run when we have the answer
  tyer::start_wait_ready(c, at_most, [told](const tyer::failure& why) { told->set_value(why); }, stop);
  return told->get_future().get();
}

void session::reach(tyer::client& c, const std::stop_token& stop) {
  const auto why = try_to_reach(c, options_.connect_timeout.value_or(connect_timeout_usual), stop);
  if (why == tyer::errc::cancelled) throw tyer::error(why);
  if (why) throw not_reached(tyer::admin{c}.address(), why);
}

std::string session::prefix() const { return find_settings(options_.engine).prefix_in_use(); }

tyer::failure session::try_client(std::chrono::milliseconds at_most) {
  if (!client_) client_ = std::make_unique<tyer::client>(open());
  const auto why = try_to_reach(*client_, at_most);
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
