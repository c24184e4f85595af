// One long call in both directions. gRPC's threads put what comes into the inbox; what is to be sent waits for its turn.
#pragma once

#include "engines/etcd/inbox.hpp"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tyer::etcd {

// Thread safety: send() and cancel() from any thread. It keeps itself alive until gRPC has finished with it.
template <class Request, class Response>
class stream final : public grpc::ClientBidiReactor<Request, Response> {
 public:
  using on_message = std::function<void(Response&&)>;
  using on_end = std::function<void(const grpc::Status&)>;

  static std::shared_ptr<stream> start(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                                       const std::string& token, std::shared_ptr<inbox> box, on_message message,
                                       on_end end) {
    std::shared_ptr<stream> s{new stream{channel, method, token, std::move(box), std::move(message), std::move(end)}};
    s->self_ = s;
    s->stub_.PrepareBidiStreamingCall(&s->context_, s->method_, {}, s.get());
    s->AddHold();  // writes are started from outside the reactor
    s->StartRead(&s->received_);
    s->StartCall();
    return s;
  }

  void send(Request r) {
    const std::lock_guard lock{mutex_};
    if (ended_) return;
    waiting_.push_back(std::move(r));
    if (waiting_.size() == 1) this->StartWrite(&waiting_.front());
  }

  void cancel() {
    context_.TryCancel();
    let_go();
  }

 private:
  stream(const std::shared_ptr<grpc::Channel>& channel, const std::string& method, const std::string& token,
         std::shared_ptr<inbox> box, on_message message, on_end end)
      : method_(method), stub_(channel), box_(std::move(box)), message_(std::move(message)), end_(std::move(end)) {
    if (!token.empty()) context_.AddMetadata("token", token);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return let_go();
    box_->put([self = self_, r = std::move(received_)]() mutable { self->message_(std::move(r)); });
    received_ = {};
    this->StartRead(&received_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return let_go();
    const std::lock_guard lock{mutex_};
    waiting_.pop_front();
    if (!ended_ && !waiting_.empty()) this->StartWrite(&waiting_.front());
  }

  void OnDone(const grpc::Status& status) override {
    auto self = std::move(self_);
    box_->put([self = std::move(self), status] { self->end_(status); });
  }

  void let_go() {
    {
      const std::lock_guard lock{mutex_};
      if (std::exchange(ended_, true)) return;
    }
    this->RemoveHold();
  }

  const std::string method_;
  grpc::TemplatedGenericStub<Request, Response> stub_;
  grpc::ClientContext context_;
  std::shared_ptr<inbox> box_;
  on_message message_;
  on_end end_;
  Response received_;
  std::shared_ptr<stream> self_;

  std::mutex mutex_;
  std::deque<Request> waiting_;  // the first is being written
  bool ended_ = false;
};

}  // namespace tyer::etcd
