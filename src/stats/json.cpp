// The stats as JSON: {"bounds": [...], "instruments": [{"name", "kind", "unit", "help", "samples": [...]}, ...]}.
#include <tyer/stats.hpp>

#include <array>
#include <charconv>
#include <cstddef>

namespace tyer {
inline namespace v1 {

namespace {

double seconds(std::chrono::nanoseconds d) { return static_cast<double>(d.count()) / 1e9; }

std::string_view word(instrument_kind k) {
  switch (k) {
    case instrument_kind::counter: return "counter";
    case instrument_kind::gauge: return "gauge";
    case instrument_kind::histogram: break;
  }
  return "histogram";
}

// For text without control characters: the texts of the table, and group names.
void text(std::string& to, std::string_view said) {
  to += '"';
  for (const char c : said) {
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += '"';
}

void number(std::string& to, std::uint64_t n) { to += std::to_string(n); }

// The shortest exact form; "0.0001" rather than "1e-04".
void number(std::string& to, double n) {
  std::array<char, 512> room;
  to.append(room.data(), std::to_chars(room.data(), room.data() + room.size(), n, std::chars_format::fixed).ptr);
}

template <class All, class Each>
void list(std::string& to, const All& all, Each each) {
  to += '[';
  bool first = true;
  for (const auto& one : all) {
    if (!first) to += ',';
    first = false;
    each(one);
  }
  to += ']';
}

void labels(std::string& to, const sample& s) {
  to += "\"labels\":{";
  for (std::size_t i = 0; i < s.of->labels.size(); ++i) {
    if (i > 0) to += ',';
    text(to, s.of->labels[i]);
    to += ':';
    text(to, s.values[i]);
  }
  to += '}';
}

void body(std::string& to, const sample& s) {
  if (s.durations == nullptr) {
    to += ",\"value\":";
    return number(to, s.value);
  }
  to += ",\"count\":";
  number(to, s.durations->count());
  to += ",\"sum\":";
  number(to, seconds(s.durations->sum));
  to += ",\"buckets\":";
  list(to, s.durations->buckets, [&](std::uint64_t n) { number(to, n); });
}

void head(std::string& to, const instrument& i) {
  to += "{\"name\":";
  text(to, i.name);
  to += ",\"kind\":";
  text(to, word(i.kind));
  to += ",\"unit\":";
  text(to, i.unit);
  to += ",\"help\":";
  text(to, i.help);
}

}  // namespace

std::string to_json(const client_stats& s) {
  const auto all = samples(s);
  std::string to = "{\"bounds\":";
  list(to, duration_histogram::bounds, [&](std::chrono::nanoseconds b) { number(to, seconds(b)); });
  to += ",\"instruments\":";
  auto next = all.begin();
  list(to, instruments(), [&](const instrument& i) {
    auto end = next;
    while (end != all.end() && end->of == &i) ++end;
    head(to, i);
    to += ",\"samples\":";
    list(to, std::span{next, end}, [&](const sample& one) {
      to += '{';
      labels(to, one);
      body(to, one);
      to += '}';
    });
    to += '}';
    next = end;
  });
  return to += '}';
}

}  // namespace v1
}  // namespace tyer
