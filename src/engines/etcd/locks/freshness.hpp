// How recent the watches are known to be. A watch tells only what the server that it comes from has been told, and one that
// lags behind the others says nothing. So a read through the quorum is held against how far the stream of watches is: a stream
// that is at least as far has told of all that had happened when the read left. One read serves any number of watches.
//
//   idle ──begin──▶ the read is under way ──its revision──▶ the stream is asked ──it is as far──▶ idle, and known
//                                                             ▲──no answer──┘
//
// etcd does not answer while one of the watches is still catching up: so it is asked again, with longer and longer pauses. Before
// 3.4.25 and 3.5.8 it answers at once instead, before what it has still to tell (etcd issue 15220): what such a server says is no proof.
#pragma once

#include "engine/engine.hpp"

#include <cstdint>
#include <string_view>

namespace tyer::etcd {

// Whether a server of this version has told all that was written up to a revision before it says that it is as far as that.
bool tells_in_order(std::string_view version);

class freshness {
 public:
  using time_point = engine::time_point;
  using attempt = std::uint64_t;

  // A stream of watches, and what the server of the connection said of itself; no member: nothing.
  struct source {
    std::uint64_t stream = 0, member = 0;
    std::string_view version;
  };
  // Not 0: a read is to be sent. One that is under way is waited for, but no longer than its patience, nor than this one's.
  attempt begin(time_point now, const source&, lease_clock::duration patience);
  void give_up(attempt);  // its read was not answered
  // True: the stream is to be asked.
  bool on_read(attempt, std::int64_t revision, time_point now);
  // Behind one address there may be several members, of several versions: only the one of which the version is known is believed.
  void on_progress(std::uint64_t stream, std::uint64_t member, std::int64_t revision);

  time_point ask_again_at() const { return again_at_; }
  bool is_to_ask_again(time_point now, std::uint64_t stream);  // true once each time

  // Of what was watched on that stream before then, all is known that had happened until then.
  time_point known_at(std::uint64_t stream) const { return stream == known_on_ ? known_at_ : time_point::min(); }

 private:
  void wait_for_answer(time_point now);

  attempt last_ = 0;
  std::uint64_t stream_ = 0, known_on_ = 0;  // stream_: of the attempt, 0: there is none
  std::uint64_t member_ = 0;
  std::int64_t revision_ = 0;  // 0: the read has no answer yet
  time_point began_, ends_, known_at_ = time_point::min();
  time_point again_at_ = time_point::max();
  lease_clock::duration pause_{};
};

}  // namespace tyer::etcd
