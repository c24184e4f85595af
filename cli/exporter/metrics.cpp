#include "exporter/metrics.hpp"

#include "text/plain.hpp"

#include <functional>
#include <sstream>

namespace cli {

namespace {

double seconds(std::chrono::milliseconds d) { return static_cast<double>(d.count()) / 1000; }

std::optional<double> seconds_if_known(std::optional<std::chrono::milliseconds> d) {
  return d ? std::optional{seconds(*d)} : std::nullopt;
}

// The value of a label, as the format wants it. Bytes that are not UTF-8 are shown as \xNN: two labels stay two.
std::string quoted(const std::string& value) {
  std::string text = "\"";
  for (const char c : is_utf8(value) ? value : plain(value)) {
    if (c == '\\' || c == '"') text += '\\';
    c == '\n' ? text += "\\n" : text += c;
  }
  return text + '"';
}

class page {
 public:
  page() {
    out_.imbue(std::locale::classic());
    out_.precision(16);
  }
  void family(const char* name, const char* kind, const char* help) {
    name_ = name;
    out_ << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << kind << '\n';
  }
  void sample(double value, const std::string& labels = {}) { out_ << name_ << labels << ' ' << value << '\n'; }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  std::string name_;
};

struct instrument {
  const char *name, *help;
  std::function<std::optional<double>(const tally&)> read;  // nothing: it is not known
};

const std::vector<instrument>& instruments() {
  static const std::vector<instrument> all{
      {"tyer_locks_held", "Names that somebody holds.", [](auto& t) { return static_cast<double>(t.held); }},
      {"tyer_locks_waited_for", "Names that somebody waits for.",
       [](auto& t) { return static_cast<double>(t.waited_for); }},
      {"tyer_locks_waiters", "Callers that wait, for all names together.",
       [](auto& t) { return static_cast<double>(t.waiters); }},
      {"tyer_locks_longest_queue", "Callers that wait for the name with the most of them.",
       [](auto& t) { return static_cast<double>(t.longest_queue); }},
      {"tyer_locks_oldest_hold_seconds",
       "How long the oldest hold has lasted: since its grant, on etcd since it was asked for.",
       [](auto& t) { return seconds_if_known(t.oldest_hold); }},
      {"tyer_locks_longest_wait_seconds", "How long ago the one that waits longest asked, by its own clock.",
       [](auto& t) { return seconds_if_known(t.longest_wait); }},
      {"tyer_locks_complete", "0 if there are more locks than were read (--entries-max): then the numbers are too low.",
       [](auto& t) { return t.complete ? 1.0 : 0.0; }},
  };
  return all;
}

}  // namespace

std::string metrics_text(const engine_look& last, const look_counts& looks) {
  page p;
  p.family("tyer_engine_up", "gauge", "1 if the engine answered the last look, else 0.");
  p.sample(last.by_prefix ? 1 : 0);
  // What is not known is left out: a zero would say that nobody holds anything.
  for (const auto& i : instruments()) {
    if (!last.by_prefix) break;
    p.family(i.name, "gauge", i.help);
    for (const auto& [prefix, t] : *last.by_prefix) {
      if (const auto value = i.read(t)) p.sample(*value, "{begins_with=" + quoted(prefix) + '}');
    }
  }
  p.family("tyer_exporter_looks_total", "counter", "Looks at the engine, by outcome.");
  p.sample(static_cast<double>(looks.answered), "{outcome=\"answered\"}");
  p.sample(static_cast<double>(looks.failed), "{outcome=\"failed\"}");
  p.family("tyer_exporter_look_duration_seconds", "gauge", "How long the last look took.");
  p.sample(seconds(last.took));
  p.family("tyer_exporter_look_timestamp_seconds", "gauge", "When the last look began.");
  p.sample(seconds(std::chrono::duration_cast<std::chrono::milliseconds>(last.at.time_since_epoch())));
  return p.text();
}

}  // namespace cli
