// tyer exporter: the locks of an engine for Prometheus.
#include "base/option.hpp"
#include "base/repeat.hpp"
#include "base/session.hpp"
#include "base/signals.hpp"
#include "base/trouble.hpp"
#include "commands.hpp"
#include "exporter/metrics.hpp"
#include "exporter/page_server.hpp"
#include "text/duration.hpp"
#include "text/json.hpp"

#include <iostream>
#include <memory>
#include <set>

namespace cli {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct options {
  std::vector<std::string> prefixes;
  std::string listen = "127.0.0.1:9465";
  milliseconds every{15s};
  std::size_t entries_max = 100'000;
};

engine_look look_at(const tyer::admin& admin, const options& o, const signals& bell, tyer::failure& why) {
  engine_look l{.by_prefix = std::vector<std::pair<std::string, tally>>{}, .at = std::chrono::system_clock::now()};
  const auto start = steady_clock::now();
  try {
    for (const auto& p : o.prefixes)
      l.by_prefix->emplace_back(p, count(list_up_to(admin, p, o.entries_max, [&] { throw_if_interrupted(bell); })));
  } catch (const tyer::error& e) {
    why = {e.code(), e.words()};
    l.by_prefix.reset();
  }
  l.took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  return l;
}

void say_where(session& s, const page_server& page) {
  s.json() ? print({{"url", page.url()}}) : void(std::cout << "metrics at " << page.url() << std::endl);
  std::cout.clear();  // nobody need hear that: it is the page that counts
}

// The page may show each of them once.
void drop_repeated(std::vector<std::string>& prefixes) {
  std::set<std::string> seen;
  std::erase_if(prefixes, [&](const std::string& p) { return !seen.insert(p).second; });
}

exit_code exporter(session& s, options o) {
  if (o.prefixes.empty()) o.prefixes.emplace_back();
  drop_repeated(o.prefixes);
  const auto client = s.open();  // the engine may be away: that is what it is to tell
  const tyer::admin admin{client};
  page_server page{parse_endpoint(o.listen)};
  signals bell;
  say_where(s, page);
  look_counts looks;
  bool was_up = true;
  return repeat({.prints = false}, bell, [&] {
    tyer::failure why;
    const auto seen = look_at(admin, o, bell, why);
    ++(why ? looks.failed : looks.answered);
    page.show(metrics_text(seen, looks));
    if (why && was_up) std::cerr << "tyer: " << in_words(why) << '\n';
    if (!why && !was_up) std::cerr << "tyer: the engine answers again\n";
    was_up = !why;
    return o.every;
  });
}

}  // namespace

command exporter_command() {
  return {
      .name = "exporter",
      .summary = "Show the locks of an engine to Prometheus",
      .details =
          "Looks at the locks every 15 s (--every) and serves what it counted as /metrics: how many are held and "
          "waited "
          "for, the longest queue, the oldest hold and the longest wait, for each PREFIX. Names of locks are never on "
          "the page. Scrapes do not reach the engine; several exporters do no harm, but each looks for itself.\n\n"
          "A C++ program shows its own client with tyer/prometheus.hpp, which knows more: how long its calls took and "
          "which holds it lost.\n\n"
          "If the engine is away it goes on and shows tyer_engine_up 0. There is neither TLS nor a password on the "
          "page: "
          "it listens on this machine only, unless --listen says otherwise. Ends with Ctrl-C.",
      .examples = {{"tyer exporter", "all locks of the prefix, at http://127.0.0.1:9465/metrics"},
                   {"tyer exporter order/ report/", "counted apart: begins_with=\"order/\", begins_with=\"report/\""},
                   {"tyer exporter --listen 0.0.0.0:9465 --every 1m", "for a Prometheus elsewhere, once a minute"}},
      .prepare = [](CLI::App& app) -> action {
        auto o = std::make_shared<options>();
        add_option(app, "PREFIX", o->prefixes, "Count the locks whose names begin with this; default: all together");
        add_option(app, "--listen", o->listen, "Address and port; port 0: any free one")
            .takes("ADDRESS:PORT")
            .shows_default();
        add_duration(app, "--every", o->every, "How often to look at the engine");
        add_option(app, "--entries-max", o->entries_max, "Read no more holders and waiters than about this many")
            .positive()
            .shows_default();
        return [o](session& s) { return exporter(s, *o); };
      }};
}

}  // namespace cli
