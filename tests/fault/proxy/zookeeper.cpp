#include "proxy/zookeeper.hpp"

#include <stdexcept>

namespace fault {

namespace {

constexpr std::size_t number_bytes = 4;
constexpr std::int32_t packet_max = 64 << 20;

std::int32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (const char c : bytes.substr(at, number_bytes)) v = v << 8U | static_cast<unsigned char>(c);
  return static_cast<std::int32_t>(v);
}

constexpr std::int32_t create = 1;

kind kind_of(std::int32_t operation, std::int32_t first_of_several) {
  switch (operation) {
    case 2: return kind::release;
    case 5: return kind::keep;
    case 14: return first_of_several == create ? kind::claim : kind::release;
    case 15: return kind::acquire;
    default: return kind::other;
  }
}

}  // namespace

std::optional<std::string_view> read_packet(std::string_view bytes) {
  if (bytes.size() < number_bytes) return std::nullopt;
  const auto length = number_at(bytes, 0);
  if (length < 0 || length > packet_max) throw std::runtime_error{"not a packet of ZooKeeper's"};
  if (bytes.size() - number_bytes < static_cast<std::size_t>(length)) return std::nullopt;
  return bytes.substr(number_bytes, static_cast<std::size_t>(length));
}

zookeeper_request request_in(std::string_view body) {
  if (body.size() < 2 * number_bytes) throw std::runtime_error{"a request without a header"};
  const bool several = body.size() >= 3 * number_bytes;
  return {number_at(body, 0), kind_of(number_at(body, number_bytes), several ? number_at(body, 2 * number_bytes) : 0)};
}

std::int32_t number_of_answer(std::string_view body) { return body.size() < number_bytes ? -1 : number_at(body, 0); }

std::vector<zookeeper_request> zookeeper_requests::take(std::string_view bytes) {
  bytes_ += bytes;
  std::vector<zookeeper_request> found;
  std::size_t done = 0;
  while (const auto body = read_packet(std::string_view{bytes_}.substr(done))) {
    if (greeted_) found.push_back(request_in(*body));
    greeted_ = true;
    done += number_bytes + body->size();
  }
  bytes_.erase(0, done);
  return found;
}

}  // namespace fault
