#include "proxy/link.hpp"

#include <algorithm>

namespace fault {

namespace {

constexpr std::size_t first_said_max = 4096;

}  // namespace

bool link::is_cut() const {
  if (!orders_.cut) return false;
  return orders_.cut->empty() || std::ranges::any_of(*orders_.cut, [this](const std::string& word) {
           return first_said_.find(word) != word.npos || last_said_.find(word) != word.npos;
         });
}

void link::from_client(std::string_view bytes, std::int64_t due_ns, std::int64_t now) {
  if (ended_) return;
  if (spoken_ == language::any) {
    first_said_ += bytes.substr(0, first_said_max - first_said_.size());
    last_said_ = bytes;
    to_server.push_back({due_ns, std::string{bytes}});
    return;
  }
  if (spoken_ == language::grpc) {
    for (const auto& r : messages_.take(bytes)) {
      reader_.count(r.what);
      if (const auto how = ordered_drop(r.what)) to_drop_[r.stream] = {r.what, how, {}, now};
    }
    to_server.push_back({due_ns, std::string{bytes}});
    return;
  }
  if (spoken_ == language::zookeeper) {
    for (const auto& r : packets_.take(bytes)) {
      reader_.count(r.what);
      if (const auto how = ordered_drop(r.what))
        to_drop_[static_cast<std::uint32_t>(r.number)] = {r.what, how, {}, now};
    }
    to_server.push_back({due_ns, std::string{bytes}});
    return;
  }
  client_bytes_ += bytes;
  std::size_t done = 0;
  while (const auto length = requests_.scan(std::string_view{client_bytes_}.substr(done))) {
    expect(std::string_view{client_bytes_}.substr(done, *length), now);
    done += *length;
  }
  if (done == 0) return;
  to_server.push_back({due_ns, client_bytes_.substr(0, done)});
  client_bytes_.erase(0, done);
}

void link::note(const std::vector<event>& events) {
  if (!note_) return;
  for (const event& e : events) note_(e);
}

void link::expect(std::string_view message, std::int64_t now) {
  const auto words = words_of(message);
  const request r = reader_.read(words);
  if (!r.answered) return;
  expected e{r.what, std::nullopt, tickets_of(r.what, words), now};
  note(request_events(e.what, e.tickets, now));
  e.drop = ordered_drop(r.what);
  expected_.push_back(std::move(e));
}

std::optional<drop_by> link::ordered_drop(kind what) {
  auto& drop = orders_.drops[static_cast<std::size_t>(what)];
  if (drop.left == 0) return std::nullopt;
  --drop.left;
  return drop.how;
}

// What the server says of a request comes in a frame of data: then it has acted.
std::optional<kind> link::frames_from_server(std::int64_t due_ns) {
  std::size_t done = 0;
  std::optional<kind> dropped;
  while (const auto found = read_frame(std::string_view{server_bytes_}.substr(done))) {
    const auto& [frame, length] = *found;
    if (const auto at = to_drop_.find(frame.stream); at != to_drop_.end()) {
      if (frame.what == http2_frame::data) {
        ended_ = at->second.drop;
        dropped = at->second.what;
        break;
      }
      if (frame.ends_stream()) to_drop_.erase(at);  // refused
    }
    done += length;
  }
  if (done > 0) to_client.push_back({due_ns, server_bytes_.substr(0, done)});
  server_bytes_.erase(0, done);
  return dropped;
}

// The first is the answer to the greeting, whose bytes say something else than a number: it was never asked to be dropped.
std::optional<kind> link::packets_from_server(std::int64_t due_ns) {
  std::size_t done = 0;
  std::optional<kind> dropped;
  while (const auto body = read_packet(std::string_view{server_bytes_}.substr(done))) {
    const auto at = to_drop_.find(static_cast<std::uint32_t>(number_of_answer(*body)));
    if (at != to_drop_.end() && welcomed_) {
      ended_ = at->second.drop;
      dropped = at->second.what;
      break;
    }
    welcomed_ = true;
    done += 4 + body->size();
  }
  if (done > 0) to_client.push_back({due_ns, server_bytes_.substr(0, done)});
  server_bytes_.erase(0, done);
  return dropped;
}

std::optional<kind> link::from_server(std::string_view bytes, std::int64_t due_ns, std::int64_t now) {
  if (ended_) return std::nullopt;
  if (spoken_ == language::any) {
    to_client.push_back({due_ns, std::string{bytes}});
    return std::nullopt;
  }
  server_bytes_ += bytes;
  if (spoken_ == language::grpc) return frames_from_server(due_ns);
  if (spoken_ == language::zookeeper) return packets_from_server(due_ns);
  std::size_t done = 0;
  std::optional<kind> dropped;
  while (const auto length = replies_.scan(std::string_view{server_bytes_}.substr(done))) {
    if (server_bytes_[done] != '>' && !expected_.empty()) {
      const expected e = std::move(expected_.front());
      expected_.pop_front();
      // Also if nobody will hear of it: the server has acted.
      note(answer_events(e.what, e.tickets, std::string_view{server_bytes_}.substr(done, *length), e.arrived, now));
      if (e.drop) {
        ended_ = e.drop;
        dropped = e.what;
        break;
      }
    }
    done += *length;
  }
  if (done > 0) to_client.push_back({due_ns, server_bytes_.substr(0, done)});
  server_bytes_.erase(0, done);
  return dropped;
}

}  // namespace fault
