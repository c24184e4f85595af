#include "engines/etcd/freshness.hpp"

namespace tyer::etcd {

namespace {

using namespace std::chrono_literals;

constexpr auto first_pause = 200ms;  // etcd looks for watches that have to catch up every 100 ms

}  // namespace

freshness::attempt freshness::begin(time_point now, std::uint64_t stream, lease_clock::duration patience) {
  if (stream == 0 || (stream == stream_ && now < ends_)) return 0;
  stream_ = stream;
  revision_ = 0;
  began_ = now;
  ends_ = now + patience;
  again_at_ = time_point::max();
  pause_ = first_pause;
  return ++last_;
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

void freshness::on_progress(std::uint64_t stream, std::int64_t revision) {
  if (stream != stream_ || revision_ == 0 || revision < revision_) return;
  known_on_ = stream;
  known_at_ = began_;
  stream_ = 0;
  again_at_ = time_point::max();
}

}  // namespace tyer::etcd
