#include "proxy/proxy.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <system_error>

namespace fault {

namespace {

void add(const descriptor& epoll, const descriptor& socket, std::uint64_t key, std::uint32_t events) {
  epoll_event e{events, {.u64 = key}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, socket.get(), &e) != 0) {
    throw std::system_error{errno, std::generic_category(), "epoll_ctl"};
  }
}

}  // namespace

proxy::proxy(const settings& s)
    : history_(s.history),
      random_(s.seed),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      port_(s.port),
      upstream_(s.upstream),
      spoken_(s.spoken) {
  reader_.add_rules(s.rules);
  clients_ = listen_tcp(port_);
  control_ = listen_unix(s.control, SOCK_STREAM);
  add(epoll_, clients_, clients_key, EPOLLIN);
  add(epoll_, control_, control_key, EPOLLIN);
}

void proxy::run() {
  for (;;) {
    epoll_event events[64];
    const int count = ::epoll_wait(epoll_.get(), events, std::size(events), until_due());
    for (int i = 0; i < count; ++i) ready(events[i].data.u64, events[i].events);
    settle();
  }
}

void proxy::ready(std::uint64_t key, std::uint32_t events) {
  if (key == clients_key) return accept_client();
  if (key == control_key) return accept_commander();
  const auto number = key / 4;
  if (key % 4 == commander_side) {
    if (const auto c = commanders_.find(number); c != commanders_.end()) listen_to(c->second, number);
    return;
  }
  const auto found = pairs_.find(number);
  if (found == pairs_.end() || orders_.frozen) return;  // frozen by a command in this very round
  pair& p = *found->second;
  const bool client = key % 4 == client_side;
  if (!client && !p.connected) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(p.server.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) p.ended = true;
    p.connected = true;
  }
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read(p, client);
}

void proxy::accept_client() {
  descriptor client = accept_on(clients_);
  if (!client) return;
  auto p = std::make_unique<pair>(orders_, reader_, [this](const event& e) { history_.append(e); }, spoken_);
  p->client.socket = std::move(client);
  try {
    p->server.socket = connect_tcp(upstream_);
  } catch (const std::system_error&) {
    close_by_reset(p->client.socket);
    return;
  }
  pairs_.emplace(next_++, std::move(p));
}

void proxy::read(pair& p, bool from_client) {
  char buffer[16384];
  const auto count = ::recv((from_client ? p.client : p.server).socket.get(), buffer, sizeof buffer, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    p.ended = true;
    return;
  }
  const std::string_view bytes{buffer, static_cast<std::size_t>(count)};
  try {
    if (from_client) {
      p.between.from_client(bytes, due(), now_ns());
    } else if (const auto dropped = p.between.from_server(bytes, due(), now_ns())) {
      note_drop(*dropped);
      if (!p.between.closing()) p.mute_since = now_ns();
    }
  } catch (const std::runtime_error&) {
    p.ended = true;  // not of the language
  }
}

void proxy::write(pair& p, bool to_client) {
  auto& queue = to_client ? p.between.to_client : p.between.to_server;
  const int socket = (to_client ? p.client : p.server).socket.get();
  const auto now = now_ns();
  while (!queue.empty() && queue.front().due_ns <= now) {
    auto& bytes = queue.front().bytes;
    const auto count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0) {
      p.ended = p.ended || (errno != EAGAIN && errno != EINTR);
      return;
    }
    bytes.erase(0, static_cast<std::size_t>(count));
    if (bytes.empty()) queue.pop_front();
  }
}

void proxy::reset(pair& p) {
  close_by_reset(p.client.socket);
  close_by_reset(p.server.socket);
  p.ended = true;
}

void proxy::settle() {
  for (auto at = pairs_.begin(); at != pairs_.end();) {
    pair& p = *at->second;
    if (p.between.is_cut()) {
      reset(p);
    } else if (!orders_.frozen) {
      if (p.connected) write(p, false);
      write(p, true);
      if (p.between.closing() && p.between.to_client.empty()) {
        reset(p);
      }
    }
    if (p.ended) {
      note_silence(p);
      at = pairs_.erase(at);
      continue;
    }
    watch(at->first, p);
    ++at;
  }
}

void proxy::watch(std::uint64_t number, pair& p) {
  // A frozen descriptor is taken out: even with no events asked for, epoll would report a hang-up for ever.
  const auto now = now_ns();
  const auto wanted = [&](const std::deque<link::chunk>& queue) -> std::uint32_t {
    if (orders_.frozen) return 0;
    return EPOLLIN | (!queue.empty() && queue.front().due_ns <= now ? EPOLLOUT : 0u);
  };
  watch(key_of(number, client_side), p.client, wanted(p.between.to_client));
  auto server = wanted(p.between.to_server);
  if (server != 0 && !p.connected) server = EPOLLOUT;
  watch(key_of(number, server_side), p.server, server);
}

void proxy::watch(std::uint64_t key, side& s, std::uint32_t wanted) {
  if (wanted == s.watched) return;
  epoll_event e{wanted, {.u64 = key}};
  const int change = wanted == 0 ? EPOLL_CTL_DEL : s.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  ::epoll_ctl(epoll_.get(), change, s.socket.get(), &e);
  s.watched = wanted;
}

std::int64_t proxy::due() {
  if (orders_.delay_ns == 0 && orders_.jitter_ns == 0) return 0;
  return now_ns() + orders_.delay_ns + std::uniform_int_distribution<std::int64_t>{0, orders_.jitter_ns}(random_);
}

int proxy::until_due() const {
  if (orders_.frozen) return -1;
  std::int64_t next = INT64_MAX;
  for (const auto& [number, p] : pairs_) {
    for (const auto* queue : {&p->between.to_client, &p->between.to_server}) {
      if (!queue->empty()) next = std::min(next, queue->front().due_ns);
    }
  }
  if (next == INT64_MAX) return -1;
  // Rounded up: waking too early would spin. What is due already waits for its socket, which wakes us.
  const auto wait_ns = next - now_ns();
  return wait_ns <= 0 ? 100 : static_cast<int>(wait_ns / 1'000'000 + 1);
}

// Whose it was is not known here.
void proxy::note_silence(const pair& p) {
  if (p.mute_since != 0) history_.append({.t_ns = p.mute_since, .deadline_ns = now_ns(), .what = op::hindered});
}

void proxy::note_drop(kind k) {
  ++dropped_[static_cast<std::size_t>(k)];
  history_.append({.t_ns = now_ns(), .token = static_cast<std::uint64_t>(k), .what = op::fault});
}

}  // namespace fault
