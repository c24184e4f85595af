#include "sim/etcd/fake_stream.hpp"

#include <algorithm>
#include <utility>

namespace tyer::sim::etcd {

stream_end::stream_end(fake_etcd& f, std::weak_ptr<told_in_run> news, std::size_t client, std::size_t server,
                       std::string_view method, std::string token, std::function<void(std::string)> on_message,
                       std::function<void(wire::status)> on_end)
    : fake_(f),
      news_(std::move(news)),
      client_(client),
      server_(server),
      method_(method),
      token_(std::move(token)),
      message_(std::move(on_message)),
      end_(std::move(on_end)) {}

void stream_end::send(const std::string& message) {
  if (ended_) return;
  ++fake_.messages;
  auto bytes = message;
  const exchange what{client_, server_, method_, bytes};
  if (fake_.on_call) fake_.on_call(what);
  if (fake_.bend) fake_.bend(what, bytes);
  auto& time = fake_.time;
  last_there_ = std::max({last_there_, time.now() + fake_.latency(client_), fake_.stalled(client_)});
  time.at(last_there_, [self = shared_from_this(), bytes] {
    self->fake_.at_server(self->server_, moment::max() - 1h, [self, bytes] {
      if (self->ended_) return;
      if (self->method_ == "LeaseKeepAlive") {
        pb::LeaseKeepAliveRequest r;
        r.ParseFromString(bytes);
        return self->keep_alive(r);
      }
      pb::WatchRequest r;
      r.ParseFromString(bytes);
      self->change_watches(r);
    });
  });
}

void stream_end::answer(const std::string& bytes) {
  if (ended_) return;
  auto& time = fake_.time;
  last_back_ = std::max({last_back_, time.now() + fake_.latency(client_), fake_.stalled(client_)});
  time.at(last_back_, [self = shared_from_this(), bytes] {
    if (self->ended_) return;
    self->fake_.inside(self->client_, [self, bytes] {
      const auto news = self->news_.lock();
      if (!news) return;  // the loop has ended
      news->push_back([self, bytes] {
        if (self->message_) self->message_(bytes);
      });
    });
  });
}

// It comes back a moment later, as everything does.
void stream_end::end(wire::status s) {
  if (std::exchange(ended_, true)) return;
  fake_.time.in(100us, [self = shared_from_this(), s = std::make_shared<wire::status>(std::move(s))] {
    self->fake_.inside(self->client_, [self, s] {
      const auto news = self->news_.lock();
      if (!news) return;
      news->push_back([self, s] {
        self->message_ = nullptr;
        if (const auto tell = std::exchange(self->end_, nullptr)) tell(*s);
      });
    });
  });
}

void stream_end::keep_alive(const pb::LeaseKeepAliveRequest& r) {
  answer(fake_.data.keep_alive(r.id()).SerializeAsString());
}

void stream_end::change_watches(const pb::WatchRequest& r) {
  pb::WatchResponse back;
  *back.mutable_header() = fake_.data.header();
  if (r.has_cancel_request()) {
    watches_.erase(r.cancel_request().watch_id());
    compacted_.erase(r.cancel_request().watch_id());
    back.set_watch_id(r.cancel_request().watch_id());
    back.set_canceled(true);
    return answer(back.SerializeAsString());
  }
  if (r.has_progress_request()) {
    return say_how_far();
  }
  const auto& c = r.create_request();
  if (const auto known = fake_.check("Watch", token_); !known.ok()) {
    back.set_watch_id(-1);  // etcd does not say which
    back.set_created(true);
    back.set_canceled(true);
    back.set_cancel_reason("rpc error: code = Unauthenticated desc = " + known.words);
    return answer(back.SerializeAsString());
  }
  if (fake_.denies && fake_.denies(c.key())) {
    back.set_watch_id(-1);
    back.set_created(true);
    back.set_canceled(true);
    back.set_cancel_reason("etcdserver: permission denied");
    return answer(back.SerializeAsString());
  }
  back.set_watch_id(c.watch_id());
  back.set_created(true);
  answer(back.SerializeAsString());
  if (c.start_revision() != 0 && c.start_revision() <= fake_.data.compacted()) {
    back.set_created(false);
    back.set_canceled(true);
    back.set_compact_revision(fake_.data.compacted());
    back.set_cancel_reason("etcdserver: mvcc: required revision has been compacted");
    compacted_.insert(c.watch_id());
    return answer(back.SerializeAsString());
  }
  const auto next = c.start_revision() != 0 ? c.start_revision() : fake_.data.revision() + 1;
  watches_[c.watch_id()] = {c.key(), c.range_end(), c.filters_size() > 0, next, next};
  tell();
}

// As etcd 3.5, before and since 3.5.8.
void stream_end::say_how_far() {
  pb::WatchResponse back;
  *back.mutable_header() = fake_.data.header();
  back.mutable_header()->set_member_id(fake_.watched_by.value_or(server_) + 1);
  back.set_watch_id(-1);
  if (!fake_.answers_ahead(client_)) {
    const auto begins_later = [this](const auto& w) { return w.second.start > fake_.data.revision(); };
    if (fake_.catches_up(client_) || !compacted_.empty() || std::ranges::any_of(watches_, begins_later)) return;
    tell();
    back.mutable_header()->set_revision(told_);
  }
  answer(back.SerializeAsString());
}

void stream_end::tell() {
  if (method_ != "Watch" || ended_ || !fake_.is_up(server_) || fake_.lags(client_)) return;
  told_ = fake_.data.revision();
  for (auto& [number, w] : watches_) {
    if (w.next > fake_.data.revision()) continue;
    pb::WatchResponse back;
    *back.mutable_header() = fake_.data.header();
    back.set_watch_id(number);
    for (auto& e : fake_.data.since(w.next)) {
      const auto& key = e.kv().key();
      if (w.to.empty() ? key != w.from : key < w.from || key >= w.to) continue;
      if (w.deletions_only && e.type() == pb::Event::PUT) continue;
      *back.add_events() = std::move(e);
    }
    w.next = fake_.data.revision() + 1;
    if (back.events_size() > 0) answer(back.SerializeAsString());
  }
}

}  // namespace tyer::sim::etcd
