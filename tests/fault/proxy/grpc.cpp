#include "proxy/grpc.hpp"

#include <algorithm>
#include <stdexcept>

namespace fault {

namespace {

constexpr std::string_view greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t frame_header = 9, message_header = 5;
constexpr std::uint64_t longest_lease_s = 1'000'000'000;  // ids of leases are far above

std::uint32_t number(std::string_view bytes) {
  std::uint32_t n = 0;
  for (const char c : bytes) n = n << 8 | static_cast<std::uint8_t>(c);
  return n;
}

std::optional<std::uint64_t> take_varint(std::string_view& from) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < from.size() && i < 10; ++i) {
    const auto byte = static_cast<std::uint8_t>(from[i]);
    n |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    from.remove_prefix(i + 1);
    return n;
  }
  return std::nullopt;
}

struct field {
  std::uint64_t tag = 0;  // number * 8 + wire type
  std::uint64_t value = 0;
  std::string_view bytes;
};

constexpr std::uint64_t varint = 0, bytes = 2;

// Of the types that etcd's requests have.
std::optional<field> take_field(std::string_view& from) {
  const auto tag = take_varint(from);
  const auto value = tag ? take_varint(from) : std::nullopt;
  if (!value) return std::nullopt;
  if (*tag % 8 == varint) return field{*tag, *value, {}};
  if (*tag % 8 != bytes || *value > from.size()) return std::nullopt;
  const field f{*tag, *value, from.substr(0, *value)};
  from.remove_prefix(*value);
  return f;
}

constexpr std::uint64_t tag_of(std::uint64_t n, std::uint64_t type) { return n * 8 + type; }

// What is to be done if the conditions hold: one message in it says what.
std::optional<std::uint64_t> only_field(std::string_view message) {
  const auto f = take_field(message);
  return f && f->tag % 8 == bytes && message.empty() ? std::optional{f->tag / 8} : std::nullopt;
}

}  // namespace

kind kind_of_message(std::string_view message) {
  constexpr std::uint64_t put = 2, delete_range = 3;
  bool writes = false, deletes = false;
  for (bool first = true; !message.empty(); first = false) {
    const auto f = take_field(message);
    if (!f) return kind::other;
    if (f->tag == tag_of(1, varint) && first && message.empty()) {
      return f->value > longest_lease_s ? kind::keep : kind::lease;
    }
    if (f->tag % 8 != bytes || f->tag / 8 > 3) return kind::other;
    if (f->tag != tag_of(2, bytes)) continue;
    const auto does = only_field(f->bytes);
    writes = writes || does == put;
    deletes = deletes || does == delete_range;
  }
  return deletes ? kind::release : writes ? kind::acquire : kind::other;
}

std::optional<std::pair<http2_frame, std::size_t>> read_frame(std::string_view all) {
  if (all.size() < frame_header) return std::nullopt;
  const std::size_t length = number(all.substr(0, 3));
  if (all.size() < frame_header + length) return std::nullopt;
  return std::pair{http2_frame{static_cast<std::uint8_t>(all[3]), static_cast<std::uint8_t>(all[4]),
                               number(all.substr(5, 4)) & 0x7fff'ffff, all.substr(frame_header, length)},
                   frame_header + length};
}

std::vector<grpc_requests::request> grpc_requests::take(std::string_view more) {
  bytes_ += more;
  if (!greeted_) {
    const auto n = std::min(bytes_.size(), greeting.size());
    if (bytes_.compare(0, n, greeting, 0, n) != 0) throw std::runtime_error{"not HTTP/2"};
    if (bytes_.size() < greeting.size()) return {};
    bytes_.erase(0, greeting.size());
    greeted_ = true;
  }
  std::vector<request> all;
  std::size_t done = 0;
  while (const auto found = read_frame(std::string_view{bytes_}.substr(done))) {
    const auto& [frame, length] = *found;
    done += length;
    if (frame.what != http2_frame::data) continue;
    auto& message = unfinished_[frame.stream];
    message += frame.payload;
    while (message.size() >= message_header) {
      const std::size_t size = number(std::string_view{message}.substr(1, 4));
      if (message.size() < message_header + size) break;
      all.push_back({frame.stream, kind_of_message(std::string_view{message}.substr(message_header, size))});
      message.erase(0, message_header + size);
    }
    if (message.empty()) unfinished_.erase(frame.stream);
  }
  bytes_.erase(0, done);
  return all;
}

}  // namespace fault
