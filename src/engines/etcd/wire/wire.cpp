#include "engines/etcd/wire/wire.hpp"

#include "engines/etcd/wire/channel.hpp"
#include "engines/etcd/wire/loop.hpp"

#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace tyer::etcd::wire {

namespace {

// One call on its way, and who is told of it.
class flight : public traffic::call, public delivery {
 public:
  flight(const order& o, bool both_ways)
      : traffic::call(o.method, o.token, both_ways), delivery(o.where), to_(o.to), where_(o.where) {}

  void leave(std::string_view first, time_point now, time_point deadline) {
    to_->calls().add(shared_from_this(), first, now, deadline);
    to_->home().begins(where_);
  }
  void ready() noexcept override {
    if (is_over()) to_->home().ends(where_);
    to_->home().push({shared_from_this(), this});
  }
  void call_off() {
    const loop::turn mine{to_->home()};
    to_->calls().cancel(*this);
  }

 protected:
  struct news {
    std::vector<std::string> messages;
    std::optional<status> end;
  };
  news take() {
    const loop::turn mine{to_->home()};
    return {take_messages(), take_end()};
  }

  const std::shared_ptr<channel> to_;

 private:
  const told where_;
};

class unary final : public flight, public under_way {
 public:
  unary(const order& o, std::function<void(status, std::string)> back) : flight(o, false), back_(std::move(back)) {}

  void cancel() override { call_off(); }
  void forget() noexcept override { back_ = nullptr; }
  void deliver() override {
    auto n = take();
    const auto tell = std::exchange(back_, nullptr);
    tell(std::move(*n.end), n.messages.empty() ? std::string{} : std::move(n.messages.front()));
  }

 private:
  std::function<void(status, std::string)> back_;
};

class both_ways final : public flight, public stream {
 public:
  both_ways(const order& o, std::function<void(std::string)> message, std::function<void(status)> end)
      : flight(o, true), message_(std::move(message)), end_(std::move(end)) {}

  void send(const std::string& bytes) override {
    const loop::turn mine{to_->home()};
    to_->calls().send(*this, bytes);
  }
  void cancel() override { call_off(); }
  void forget() noexcept override { message_ = nullptr, end_ = nullptr; }
  void deliver() override {
    auto n = take();
    bool whole = true;
    for (auto& m : n.messages) {
      try {
        message_(std::move(m));
      } catch (const std::bad_alloc&) {  // its end is told all the same
        whole = false;
      }
    }
    if (n.end) {
      message_ = nullptr;
      std::exchange(end_, nullptr)(std::move(*n.end));
    }
    if (!whole) throw std::bad_alloc{};
  }

 private:
  std::function<void(std::string)> message_;
  std::function<void(status)> end_;
};

}  // namespace

std::shared_ptr<channel> connect(loop& l, const core::endpoint& to, const config& c,
                                 std::chrono::milliseconds attempt) {
  return std::make_shared<channel>(l.inside(), to, c, attempt);
}

bool is_connecting(const channel& c) {
  const loop::turn mine{c.home()};
  return c.is_connecting();
}

std::shared_ptr<under_way> call(const order& o, const std::string& request, std::chrono::nanoseconds within,
                                std::function<void(status, std::string)> back) {
  auto u = std::make_shared<unary>(o, std::move(back));
  const loop::turn mine{o.to->home()};
  const auto now = o.to->home().now();
  u->leave(request, now, now + within);
  return u;
}

std::shared_ptr<stream> start(const order& o, std::function<void(std::string)> on_message,
                              std::function<void(status)> on_end) {
  auto s = std::make_shared<both_ways>(o, std::move(on_message), std::move(on_end));
  const loop::turn mine{o.to->home()};
  s->leave({}, o.to->home().now(), time_point::max());
  return s;
}

void after(loop& l, std::chrono::nanoseconds d, std::function<void()> f) { l.inside().after(d, std::move(f)); }

}  // namespace tyer::etcd::wire
