// A lock as a sender, for those who compose with std::execution or stdexec: what they ask of one is a few lines on
// <tyer/async.hpp>. Nothing of theirs is needed to build this, so the receiver at the end is written out too.
//
//   senders redis://127.0.0.1:6379
#include <tyer/async.hpp>
#include <tyer/tyer.hpp>

#include <exception>
#include <future>
#include <iostream>
#include <stop_token>
#include <utility>

namespace {

// [sender]
// Completes with set_value(hold), set_error(exception_ptr) or set_stopped().
template <class Receiver>
struct acquiring {
  tyer::acquirable lock;
  Receiver receiver;

  void start() noexcept {
    tyer::start_acquire(
        lock,
        [this](tyer::failure why, tyer::hold h) {
          if (why.code == tyer::errc::cancelled) return std::move(receiver).set_stopped();
          if (why) return std::move(receiver).set_error(std::make_exception_ptr(tyer::error{why}));
          std::move(receiver).set_value(std::move(h));
        },
        receiver.stop_token());
  }
};

struct acquire_sender {
  tyer::acquirable lock;

  template <class Receiver>
  acquiring<Receiver> connect(Receiver r) const {
    return {lock, std::move(r)};
  }
};
// [sender]

// What sync_wait has inside.
struct waiting {
  std::promise<tyer::hold>* result;
  std::stop_token stop;

  void set_value(tyer::hold h) && { result->set_value(std::move(h)); }
  void set_error(std::exception_ptr e) && { result->set_exception(std::move(e)); }
  void set_stopped() && { result->set_value({}); }
  std::stop_token stop_token() const { return stop; }
};

tyer::hold sync_wait(const acquire_sender& s, std::stop_token stop = {}) {
  std::promise<tyer::hold> result;
  auto future = result.get_future();
  auto operation = s.connect(waiting{&result, std::move(stop)});
  operation.start();
  return future.get();
}

}  // namespace

int main(int argc, char** argv) {
  tyer::client client{argc > 1 ? argv[1] : "memory://"};
  tyer::mutex order{client, "order/42"};

  tyer::hold h = sync_wait({order});
  std::cout << "held under token " << h.token() << '\n';

  std::stop_source stop;
  stop.request_stop();
  const tyer::hold none = sync_wait({order}, stop.get_token());
  std::cout << (none ? "twice?" : "stopped, as asked") << '\n';
  return h.valid() && !none ? 0 : 1;
}
