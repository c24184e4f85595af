// One long call in both directions, in messages: what comes is told by the thread in run().
#pragma once

#include "engines/etcd/wire/wire.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace tyer::etcd {

// Thread safety: for the thread in run().
template <class Request, class Response>
class stream {
 public:
  using on_message = std::function<void(Response&&)>;
  using on_end = std::function<void(const wire::status&)>;

  static std::shared_ptr<stream> start(const wire::order& o, on_message message, on_end end) {
    return std::make_shared<stream>(wire::start(
        o,
        [message = std::move(message)](const std::string& bytes) {
          Response r;
          if (r.ParseFromString(bytes)) message(std::move(r));
        },
        std::move(end)));
  }

  explicit stream(std::shared_ptr<wire::stream> inside) : inside_(std::move(inside)) {}

  void send(const Request& r) { inside_->send(r.SerializeAsString()); }
  void cancel() { inside_->cancel(); }

 private:
  const std::shared_ptr<wire::stream> inside_;
};

}  // namespace tyer::etcd
