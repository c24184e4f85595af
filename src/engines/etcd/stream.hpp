// One long call in both directions, in messages: what comes is told by the thread in run().
#pragma once

#include "engines/etcd/inbox.hpp"
#include "engines/etcd/wire.hpp"

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

  static std::shared_ptr<stream> start(const wire::order& o, const std::shared_ptr<inbox>& box, on_message message,
                                       on_end end) {
    auto told = std::make_shared<listener>(std::move(message), std::move(end));
    return std::make_shared<stream>(wire::start(
        o,
        [told, box](std::string bytes) {
          box->put([told, bytes = std::move(bytes)] {
            Response r;
            if (r.ParseFromString(bytes)) told->message(std::move(r));
          });
        },
        [told, box](wire::status s) mutable {
          // Moved on, so that the last to let go of whom it is told is the thread in run().
          box->put([told = std::move(told), s = std::move(s)] { told->end(s); });
        }));
  }

  explicit stream(std::shared_ptr<wire::stream> inside) : inside_(std::move(inside)) {}

  void send(const Request& r) { inside_->send(r.SerializeAsString()); }
  void cancel() { inside_->cancel(); }

 private:
  struct listener {
    listener(on_message m, on_end e) : message(std::move(m)), end(std::move(e)) {}
    const on_message message;
    const on_end end;
  };

  const std::shared_ptr<wire::stream> inside_;
};

}  // namespace tyer::etcd
