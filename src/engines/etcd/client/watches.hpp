// What the server tells by itself: any number of watches over one stream, which come back when the stream does.
#pragma once

#include "engines/etcd/client/link.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tyer::etcd {

class watches {
 public:
  // Told the reason when the server refuses watches, once in each round of tries.
  watches(link& l, const core::clock& c, std::function<void(const std::string&)> refused)
      : link_(l), clock_(c), on_refused_(std::move(refused)) {}
  ~watches() { end_stream(); }

  using number = std::int64_t;
  struct what {
    key_range keys;         // `to` empty: one key
    std::int64_t from = 0;  // the first revision that is news; 0: what comes after the first connection
    bool deletions_only = false;
    bool with_previous = false;  // an event tells what was there before
    std::function<void(const pb::Event&)> on_event;
    std::function<void()> on_gap;  // the server has forgotten some: read anew, and watch again
    // Whoever is watching may not read it: what it asks for now is told so. It is tried again.
    std::function<void()> on_refused = [] {};
    std::uint64_t confirmed_on = 0;
    bool refused = false;
  };
  number add(what);
  void remove(number);

  // The stream, if it is alive, over which the server has said that it watches this; else 0.
  std::uint64_t confirmed_on(number) const;

  // How far the stream is: whatever was written up to a revision has been told. A server may leave it unanswered.
  void ask_progress();
  std::uint64_t stream_number() const { return stream_ ? stream_number_ : 0; }
  std::function<void(std::uint64_t stream, const pb::ResponseHeader&)> on_progress = [](auto, const auto&) {};

  time_point next() const { return again_at_; }
  void try_again(time_point now);  // what was refused

  void set_back(std::int64_t revision);  // what comes after it is news
  void on_up();
  void on_down() { end_stream(); }
  void close() { end_stream(); }

 private:
  void create(number, what&);
  number created(const pb::WatchResponse&);
  void cancel(number);
  void refused(number, const std::string& reason);
  void came(const pb::WatchResponse&);
  void start_stream();
  void end_stream();
  void log_in_and_start();

  link& link_;
  const core::clock& clock_;
  const std::function<void(const std::string&)> on_refused_;
  std::map<number, what> all_;
  number last_ = 0;
  std::shared_ptr<stream<pb::WatchRequest, pb::WatchResponse>> stream_;
  std::uint64_t stream_number_ = 0;
  std::deque<number> asked_;  // for on this stream, and neither created nor refused yet
  time_point again_at_ = time_point::max();
  bool refused_ = false;  // for its token, and nothing was watched since
};

}  // namespace tyer::etcd
