// What the server says it was asked: etcd in its metrics, Redis in its statistics of commands.
#pragma once

#include <cstdint>
#include <memory>

namespace tyer::contract {

class request_counter {
 public:
  request_counter();  // of the server at TYER_URI
  ~request_counter();

  bool is_etcd() const;
  std::uint64_t requests() const;

 private:
  struct source;
  std::unique_ptr<source> source_;
};

}  // namespace tyer::contract
