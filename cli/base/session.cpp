#include "base/session.hpp"

#include "base/spelling.hpp"
#include "base/trouble.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace cli {

namespace {

constexpr const char* how_to_say =
    "Say which engine, in one of these ways:\n"
    "  export TYER_URL=redis://127.0.0.1:6379\n"
    "  tyer --url redis://127.0.0.1:6379 ls\n"
    "  echo 'url = redis://127.0.0.1:6379' >> ~/.config/tyer/config\n"
    "`tyer version` lists the engines this tyer knows.";

// A slip of the pen, or an engine that this tyer was built without.
std::string advice_on_scheme(std::string_view url) {
  const std::vector<std::string> schemes{"memory",          "redis",         "rediss",         "redis+sentinel",
                                         "rediss+sentinel", "redis+cluster", "rediss+cluster", "redlock",
                                         "redlocks",        "etcd",          "etcds"};
  const auto scheme = url.substr(0, url.find("://"));
  if (std::ranges::find(schemes, scheme) != schemes.end())
    return "This tyer was built without that engine; `tyer version` lists those it has.";
  const auto meant = nearest(scheme, schemes);
  return meant.empty() ? "`tyer version` lists the engines this tyer has." : "Did you mean " + meant + "://?";
}

using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds glance{50};  // how often one looks whether there is any use in waiting on

// The doctor could say no more than this: it has nobody to examine.
trouble not_reached(const std::string& where, const tyer::failure& why) {
  const bool named = why.words.find(where) != why.words.npos;
  const auto told = trouble_of(why, named ? "" : "cannot reach " + where);
  if (why.code == tyer::errc::refused)
    return {told.code(), told.what(),
            "The server is there, but does not let this login in: look at user and password in the URL,\n"
            "as …://USER:PASSWORD@HOST, and at their rights."};
  return {
      told.code(), told.what(),
      "See whether a server runs there, whether host and port of the URL are right, on which addresses it listens,\n"
      "whether it wants TLS (rediss://, etcds://) or not (redis://, etcd://), and whether a firewall stands between."};
}

}  // namespace

tyer::client session::open(tyer::client_options with) {
  const auto found = find_settings(options_.engine);
  if (found.url.empty()) throw trouble(exit_code::usage, "no engine was named", how_to_say);
  with.prefix = found.prefix;
  if (with.label.empty()) with.label = "tyer";
  try {
    return tyer::client{found.url, std::move(with)};
  } catch (const tyer::error& e) {
    if (e.code() == tyer::errc::invalid_uri)
      throw trouble(exit_code::usage, "the URL cannot be understood: " + e.words(),
                    "It is that of " + found.source + '.');
    if (e.code() == tyer::errc::no_engine)
      throw trouble(exit_code::usage, e.words(),
                    advice_on_scheme(found.url) + "\nThe URL is that of " + found.source + '.');
    throw;
  }
}

void session::reach(tyer::client& c, const std::stop_token& stop) {
  const auto where = tyer::admin{c}.address();
  const progress waiting{terminal_, [&] { return "connecting to " + short_address(where); }};
  const auto until = clock::now() + options_.connect_timeout;
  for (tyer::failure why; !c.wait_ready(why, glance);) {
    if (stop.stop_requested()) throw tyer::error(tyer::errc::cancelled);
    if (why.code == tyer::errc::refused || clock::now() >= until) throw not_reached(where, why);
  }
}

tyer::client& session::client() {
  if (!client_) {
    auto made = std::make_unique<tyer::client>(open());
    reach(*made);
    client_ = std::move(made);
  }
  return *client_;
}

}  // namespace cli
