#include "base/session.hpp"

#include "base/trouble.hpp"
#include "text/plain.hpp"
#include "text/progress.hpp"

#include <utility>

namespace cli {

namespace {

constexpr const char* how_to_say =
    "Say which engine, in one of these ways:\n"
    "  export TYER_URL=redis://127.0.0.1:6379\n"
    "  tyer --url redis://127.0.0.1:6379 ls\n"
    "  echo 'url = redis://127.0.0.1:6379' >> ~/.config/tyer/config\n"
    "`tyer version` lists the engines this tyer knows.";

}  // namespace

tyer::client session::open(tyer::client_options with) {
  const auto found = find_settings(options_.engine);
  if (found.url.empty()) throw trouble(exit_code::usage, "no engine was named", how_to_say);
  with.prefix = found.prefix;
  if (with.label.empty()) with.label = "tyer";
  try {
    return tyer::client{found.url, std::move(with)};
  } catch (const tyer::error& e) {
    if (e.code() == tyer::errc::invalid_uri) {
      throw trouble(exit_code::usage, "the URL cannot be understood: " + e.words(), how_to_say);
    }
    throw;
  }
}

void session::reach(tyer::client& c) {
  const auto where = tyer::admin{c}.address();
  const progress waiting{terminal_, [&] { return "connecting to " + short_address(where); }};
  tyer::failure why;
  if (c.wait_ready(why, options_.connect_timeout)) return;
  const bool named = why.words.find(where) != why.words.npos;
  throw trouble_of({why.code, why.words}, named ? "" : "cannot reach " + where);
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
