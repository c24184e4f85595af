#include "text/json.hpp"

#include "run/runner.hpp"
#include "text/plain.hpp"

#include <ctime>
#include <iostream>

namespace cli {

namespace {

const char* mode_word(tyer::lock_mode m) {
  switch (m) {
    case tyer::lock_mode::exclusive: return "exclusive";
    case tyer::lock_mode::shared: return "shared";
    case tyer::lock_mode::permit: break;
  }
  return "permit";
}

std::string hex(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char c : bytes) (out += digits[c >> 4]) += digits[c & 15];
  return out;
}

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : text_json(text); }

json owner_json(const tyer::lock_owner& o) {
  json j;
  j["text"] = text_json(o.text);
  j["host"] = text_or_null(o.host);
  j["pid"] = o.pid == 0 ? json(nullptr) : json(o.pid);
  j["label"] = text_or_null(o.label);
  j["site"] = text_or_null(o.site);
  j["note"] = text_or_null(o.note);
  j["since"] = o.since ? time_json(*o.since) : json(nullptr);
  const auto runs = read_label(o.label);
  j["user"] = runs ? text_json(runs->user) : json(nullptr);
  j["command"] = runs ? text_json(runs->command) : json(nullptr);
  return j;
}

}  // namespace

json text_json(std::string_view text) { return valid_utf8(text); }

void put_name(json& j, const std::string& name) {
  j["name"] = text_json(name);
  if (!is_utf8(name)) j["name_hex"] = hex(name);
}

json time_json(std::chrono::system_clock::time_point t) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(t.time_since_epoch()).count();
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[40];
  const auto length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + length, sizeof text - length, ".%03dZ", static_cast<int>(ms % 1000));
  return text;
}

json entry_json(const tyer::lock_entry& e) {
  json j;
  put_name(j, e.name);
  j["id"] = e.id ? json(e.id.text()) : json(nullptr);
  j["state"] = e.waiting ? "waiting" : "holding";
  j["mode"] = mode_word(e.mode);
  j["token"] = e.token ? json(std::to_string(*e.token)) : json(nullptr);
  j["place"] = e.place == 0 ? json(nullptr) : json(e.place);
  const auto held = held_for(e);
  j["held_ms"] = held ? json(held->count()) : json(nullptr);
  j["remaining_ms"] = e.remaining.count();
  j["slots"] = e.slot_numbers;
  j["owner"] = owner_json(e.owner);
  return j;
}

json lock_json(const lock& l) {
  json j;
  put_name(j, l.name);
  const auto now = state(l.all);
  j["state"] = now == "free" || now == "kept" ? now : "held";
  j["waiting"] = waiting(l.all);
  j["holders"] = json::array();
  for (const auto& e : l.all) {
    if (!e.waiting) j["holders"].push_back(entry_json(e));
  }
  return j;
}

// In ASCII: the output may be a terminal, and UTF-8 has control characters of its own.
void print(const json& j) { std::cout << j.dump(-1, ' ', true) << std::endl; }

}  // namespace cli
