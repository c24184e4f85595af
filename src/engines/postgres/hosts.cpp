#include "engines/postgres/hosts.hpp"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tyer::postgres {

// Between the thread that looks up, which may be the last to know it, and the loop, where alone its owner is touched.
class hosts::asker final : public core::host_asker, public std::enable_shared_from_this<asker> {
 public:
  asker(hosts* owner, std::size_t which, std::shared_ptr<engine::inbox> box)
      : owner_(owner), which_(which), box_(std::move(box)) {}

  void tell(std::shared_ptr<const core::found_hosts> what) override {
    box_->put([me = shared_from_this(), what = std::move(what)](engine::events*) {
      if (me->owner_ == nullptr) return;
      what->heard = true;
      me->owner_->round_[me->which_].found = what;
      me->owner_->told();
    });
  }

  void forget() noexcept { owner_ = nullptr; }

 private:
  hosts* owner_;
  const std::size_t which_;
  const std::shared_ptr<engine::inbox> box_;
};

namespace {

bool is_path(const std::string& host) { return host.starts_with('/'); }

bool is_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> raw{};
  const auto plain = host.substr(0, host.find('%'));
  return ::inet_pton(AF_INET, host.c_str(), raw.data()) == 1 || ::inet_pton(AF_INET6, plain.c_str(), raw.data()) == 1;
}

std::string text_of(const core::found_hosts::address& a) {
  std::array<char, NI_MAXHOST> text{};
  const auto* const raw = reinterpret_cast<const sockaddr*>(&a.raw);
  const bool is_known =
      ::getnameinfo(raw, a.size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0;  // asks nobody
  return is_known ? text.data() : "";
}

struct entry {
  const core::endpoint& of;
  std::string address;
};

void add(hosts::known& to, const entry& e) {
  const char* const comma = to.host.empty() ? "" : ",";
  to.host.append(comma).append(e.of.host);
  to.hostaddr.append(comma).append(e.address);
  to.port.append(comma).append(std::to_string(e.of.port));
}

}  // namespace

void hosts::look_up(then t) {
  forget();
  then_ = std::move(t);
  round_.assign(all_.size(), {});
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& host = all_[i].host;
    if (is_path(host) || is_address(host)) continue;
    round_[i].by = std::make_shared<asker>(this, i, box_);
    core::look_up(host, round_[i].by);
  }
  round_.emplace_back().by = std::make_shared<asker>(this, all_.size(), box_);  // perhaps nobody has to be asked
  round_.back().by->tell(std::make_shared<core::found_hosts>());
}

void hosts::forget() noexcept {
  hurried_ |= then_ != nullptr;
  then_ = nullptr;
  for (const auto& o : round_) {
    if (o.by) o.by->forget();
  }
  round_.clear();
}

void hosts::told() {
  const auto is_open = [](const one& o) { return o.by && !o.found; };
  const bool complete = std::ranges::none_of(round_, is_open);
  auto all = what_is_known();
  if (!complete && (!hurried_ || all.host.empty())) return;
  const auto t = std::exchange(then_, nullptr);
  forget();
  if (complete) hurried_ = false;
  t(std::move(all));
}

hosts::known hosts::what_is_known() const {
  known k;
  std::vector<entry> entries;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const auto& [by, found] = round_[i];
    if (!by) entries.push_back({all_[i], is_path(all_[i].host) ? "" : all_[i].host});
    if (!found) continue;
    for (const auto& a : found->all) {
      if (auto text = text_of(a); !text.empty()) entries.push_back({all_[i], std::move(text)});
    }
    if (found->error != 0) k.why_not = "the host " + all_[i].host + " is not found: " + ::gai_strerror(found->error);
  }
  for (std::size_t i = 0; i < entries.size(); ++i) add(k, entries[(first_ + i) % entries.size()]);
  return k;
}

}  // namespace tyer::postgres
