// What the server tells by itself: any number of watches over one stream, which come back when the stream does.
#pragma once

#include "engines/etcd/link.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tyer::etcd {

class watches {
 public:
  watches(link& l) : link_(l) {}
  ~watches() { end_stream(); }

  using number = std::int64_t;
  struct what {
    key_range keys;         // `to` empty: one key
    std::int64_t from = 0;  // the first revision that is news
    bool deletions_only = false;
    std::function<void(const pb::Event&)> on_event;
    std::function<void()> on_gap;  // the server has forgotten some: read anew, and watch again
    std::uint64_t confirmed_on = 0;
  };
  number add(what);
  void remove(number);

  // The stream, if it is alive, over which the server has said that it watches this; else 0.
  std::uint64_t confirmed_on(number) const;

  void set_back(std::int64_t revision);  // what comes after it is news
  void on_up();
  void on_down() { end_stream(); }
  void close() { end_stream(); }

 private:
  void create(number, const what&);
  void came(const pb::WatchResponse&);
  void start_stream();
  void end_stream();
  void log_in_and_start();

  link& link_;
  std::map<number, what> all_;
  number last_ = 0;
  std::shared_ptr<stream<pb::WatchRequest, pb::WatchResponse>> stream_;
  std::uint64_t stream_number_ = 0;
  bool refused_ = false;  // for its token, and nothing was watched since
};

}  // namespace tyer::etcd
