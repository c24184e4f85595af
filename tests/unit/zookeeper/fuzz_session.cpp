// A server that says anything, in any pieces, to a session with requests, watches and credentials.
#include "engines/zookeeper/wire/session.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace tyer::zookeeper::wire;
using namespace std::chrono_literals;

struct listens final : session::listener {
  void on_up() override {}
  void on_gone() override {}
  void on_event(const event&) override {}
};

void talk(std::string_view script, const credentials& who) {
  listens l;
  session s{l, 10s, who};
  tyer::engine::time_point now{};
  int asked = 0, answered = 0;
  s.connected("host", now);
  while (!script.empty()) {
    const auto n = std::min<std::size_t>(script.size() - 1, static_cast<unsigned char>(script.front()));
    const auto piece = script.substr(1, n);
    script.remove_prefix(1 + n);
    s.take_output();
    now += std::chrono::milliseconds{1 + 7 * piece.size()};
    if (!s.received(piece, now) || !s.on_time(now)) break;
    if (s.read_by(now) > now || s.read_by({}) > now) std::abort();
    asked += 2;
    s.call(op::sync, path_body("/a"), now, [&](const response&) { ++answered; });
    s.watch(op::get_data, "/a", now, [&](const response&) { ++answered; });
  }
  s.lost();
  if (asked != answered) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  talk(all, {});
  talk(all, {"user", "password", false});
  talk(all, {"user", "password", true});
  return 0;
}
