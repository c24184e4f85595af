#include "engines/etcd/client/watches.hpp"

#include <algorithm>
#include <utility>

namespace tyer::etcd {

namespace {

constexpr std::chrono::seconds refused_again_after{10};

bool is_about_the_token(const std::string& reason) {
  const auto says = [&](const char* part) { return reason.find(part) != reason.npos; };
  return says("auth token") || says("auth store is old") || says("user name is empty");
}

}  // namespace

watches::number watches::add(what w) {
  const number n = ++last_;
  const auto at = all_.emplace(n, std::move(w)).first;
  if (stream_) create(n, at->second);
  return n;
}

void watches::remove(number n) {
  if (all_.erase(n) != 0) cancel(n);
}

void watches::cancel(number n) {
  if (!stream_) return;
  pb::WatchRequest r;
  r.mutable_cancel_request()->set_watch_id(n);
  stream_->send(std::move(r));
}

std::uint64_t watches::confirmed_on(number n) const {
  const auto at = all_.find(n);
  return stream_ && at != all_.end() && at->second.confirmed_on == stream_number_ ? stream_number_ : 0;
}

void watches::ask_progress() {
  if (!stream_) return;
  pb::WatchRequest r;
  r.mutable_progress_request();
  stream_->send(std::move(r));
}

void watches::create(number n, what& w) {
  if (w.from == 0) w.from = link_.revision() + 1;
  pb::WatchRequest r;
  auto& c = *r.mutable_create_request();
  c.set_watch_id(n);
  c.set_key(w.keys.from);
  c.set_range_end(w.keys.to);
  c.set_start_revision(w.from);
  c.set_prev_kv(w.with_previous);
  if (w.deletions_only) c.add_filters(pb::WatchCreateRequest::NOPUT);
  asked_.push_back(n);
  stream_->send(std::move(r));
}

// Which it is. One that is refused has the number -1 from etcd 3.5 on; but each is answered, in the order they were asked for.
watches::number watches::created(const pb::WatchResponse& r) {
  const auto first = asked_.empty() ? r.watch_id() : asked_.front();
  if (!asked_.empty()) asked_.pop_front();
  return r.watch_id() < 0 ? first : r.watch_id();
}

void watches::refused(number n, const std::string& reason) {
  const auto at = all_.find(n);
  if (at == all_.end()) return;
  at->second.refused = true;
  const bool first = again_at_ == time_point::max();
  if (first) again_at_ = clock_.now() + refused_again_after;
  const auto tell = at->second.on_refused;
  if (first) on_refused_(reason);
  tell();
}

void watches::try_again(time_point now) {
  if (now < again_at_) return;
  again_at_ = time_point::max();
  if (!stream_) return;
  for (auto& [n, w] : all_) {
    if (std::exchange(w.refused, false)) create(n, w);
  }
}

void watches::came(const pb::WatchResponse& r) {
  if (!r.created() && !r.canceled() && r.events_size() == 0) {
    if (r.watch_id() < 0) on_progress(stream_number_, r.header());  // of all of them
    return;
  }
  const auto n = r.created() ? created(r) : r.watch_id();
  if (r.canceled() && is_about_the_token(r.cancel_reason())) return log_in_and_start();
  if (r.created() && r.canceled() && r.compact_revision() == 0) return refused(n, r.cancel_reason());
  const auto at = all_.find(n);
  if (at == all_.end()) return;
  if (r.canceled()) {
    const auto w = std::move(at->second);
    all_.erase(at);
    // Until then etcd takes it for one that catches up, and does not say how far the stream is.
    if (r.compact_revision() != 0) cancel(n);
    link_.saw(r.compact_revision());  // whoever watches anew does not begin before it again
    if (w.on_gap) w.on_gap();
    return;
  }
  if (r.created()) {
    at->second.confirmed_on = stream_number_;
    refused_ = false;
  }
  for (const auto& e : r.events()) {
    // Whoever is told may remove the watch.
    const auto still = all_.find(r.watch_id());
    if (still == all_.end()) return;
    const auto tell = still->second.on_event;
    tell(e);
    if (const auto told = all_.find(r.watch_id()); told != all_.end())
      told->second.from = std::max(told->second.from, e.kv().mod_revision() + 1);
  }
}

void watches::set_back(std::int64_t revision) {
  for (auto& [n, w] : all_) w.from = std::min(w.from, revision + 1);
}

// The stream still has the old token, and would be refused every new watch for as long as it lives. If that was so with a fresh
// one too, the server is left for another, and all of it is tried again with pauses.
void watches::log_in_and_start() {
  const auto stay = link_.stay();
  end_stream();
  link_.log_in_anew();
  if (std::exchange(refused_, true)) {
    return link_.trouble({wire::code::unavailable, "the server refuses watches for their token"}, stay);
  }
  link_.when_logged_in([this, stay](const failure* wrong) {
    if (stream_ || stay != link_.stay() || !link_.is_up()) return;
    if (wrong == nullptr) return start_stream();
    link_.trouble({wire::code::unavailable, "no login for the watches: " + wrong->words}, stay);
  });
}

void watches::on_up() {
  if (!stream_) start_stream();
}

void watches::start_stream() {
  const auto number = ++stream_number_;
  const auto stay = link_.stay();
  stream_ = link_.start<pb::WatchRequest, pb::WatchResponse>(
      method::watch,
      [this, number](pb::WatchResponse&& r) {
        if (number == stream_number_) came(r);
      },
      [this, number, stay](const wire::status& s) {
        if (number != stream_number_) return;
        end_stream();
        if (is_old_token(s)) link_.log_in_anew();
        // The stream is always there, so its end, whatever the reason, is how we find out that the server is gone.
        link_.trouble({wire::code::unavailable, "the server ended the watches: " + s.words}, stay);
      });
  asked_.clear();
  again_at_ = time_point::max();
  for (auto& [n, w] : all_) {
    w.refused = false;
    create(n, w);
  }
}

void watches::end_stream() {
  ++stream_number_;
  if (stream_) stream_->cancel();
  stream_.reset();
}

}  // namespace tyer::etcd
