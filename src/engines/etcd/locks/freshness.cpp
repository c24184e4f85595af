#include "engines/etcd/locks/freshness.hpp"

#include "engines/kit/version.hpp"

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto first_pause = 200ms;  // etcd looks for watches that have to catch up every 100 ms

}  // namespace

bool tells_in_order(std::string_view version) {
  if (version.find('-') != version.npos)
    return false;  // 3.6.0-alpha.0 does not, and what comes before a release is not known
  const auto v = kit::read_version(version);
  if (v.major == 3 && v.minor == 4) return v.patch >= 25;
  if (v.major == 3 && v.minor == 5) return v.patch >= 8;
  return v >= kit::version{3, 6, 0};
}

freshness::attempt freshness::begin(time_point now, const source& s, lease_clock::duration patience) {
  if (s.stream == 0 || s.member == 0 || !tells_in_order(s.version)) return 0;
  if (s.stream == stream_ && now < ends_ && ends_ <= now + patience) return 0;
  stream_ = s.stream;
  member_ = s.member;
  revision_ = 0;
  began_ = now;
  ends_ = now + patience;
  again_at_ = time_point::max();
  pause_ = first_pause;
  return ++last_;
}

void freshness::give_up(attempt a) {
  if (a == last_) ends_ = time_point::min();
}

bool freshness::on_read(attempt a, std::int64_t revision, time_point now) {
  if (a != last_ || stream_ == 0 || revision_ != 0) return false;
  revision_ = revision;
  wait_for_answer(now);
  return true;
}

void freshness::wait_for_answer(time_point now) {
  again_at_ = now + pause_ < ends_ ? now + pause_ : time_point::max();
  pause_ *= 2;
}

bool freshness::is_to_ask_again(time_point now, std::uint64_t stream) {
  if (now < again_at_) return false;
  again_at_ = time_point::max();
  if (stream != stream_) return false;
  wait_for_answer(now);
  return true;
}

void freshness::on_progress(std::uint64_t stream, std::uint64_t member, std::int64_t revision) {
  if (stream != stream_ || member != member_ || revision_ == 0 || revision < revision_) return;
  known_on_ = stream;
  known_at_ = began_;
  stream_ = 0;
  again_at_ = time_point::max();
}

}  // namespace tyer::etcd
