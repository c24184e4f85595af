// What gRPC puts into HTTP/2: messages with five bytes in front, deadlines and reasons as text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tyer::etcd::wire {

void append_framed(std::string& to, std::string_view message);

// "1500m": how long the server may take.
std::string timeout_text(std::chrono::nanoseconds);

// grpc-message is ASCII; everything else in it is written %XX. What is no such number stays as it is.
std::string percent_decoded(std::string_view);

// Messages out of bytes that come in any pieces.
class message_reader {
 public:
  enum class verdict : std::uint8_t { fine, compressed, too_long };

  explicit message_reader(std::size_t longest) : longest_(longest) {}

  // Tells each message that is whole by now. After another verdict than fine nothing more can be read.
  template <class F>
  verdict feed(std::string_view bytes, F on_message) {
    while (!bytes.empty()) {
      if (head_.size() < head_size) {
        bytes.remove_prefix(take(bytes, head_, head_size));
        if (head_.size() < head_size) break;
        if (head_[0] != 0) return verdict::compressed;
        if (length() > longest_) return verdict::too_long;
      }
      bytes.remove_prefix(take(bytes, body_, length()));
      if (body_.size() < length()) break;
      head_.clear();
      on_message(std::exchange(body_, {}));
    }
    return verdict::fine;
  }
  bool is_between_messages() const { return head_.empty(); }

 private:
  static constexpr std::size_t head_size = 5;

  static std::size_t take(std::string_view from, std::string& to, std::size_t size) {
    const auto n = std::min(from.size(), size - to.size());
    to.append(from.substr(0, n));
    return n;
  }
  std::size_t length() const {
    std::size_t n = 0;
    for (std::size_t i = 1; i < head_size; ++i) n = n << 8 | static_cast<unsigned char>(head_[i]);
    return n;
  }

  const std::size_t longest_;
  std::string head_, body_;
};

}  // namespace tyer::etcd::wire
