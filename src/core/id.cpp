#include "core/id.hpp"

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace tyer::core {

namespace {

std::uint64_t random_word() {
  std::uint64_t word = 0;
  for (;;) {
    const auto got = ::getrandom(&word, sizeof word, 0);
    if (got == static_cast<ssize_t>(sizeof word)) return word;
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

}  // namespace

id id::from(std::string_view raw) noexcept {
  id i;
  if (raw.size() == i.bytes.size()) std::memcpy(i.bytes.data(), raw.data(), raw.size());
  return i;
}

std::string to_hex(std::string_view raw) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(raw.size() * 2);
  for (const unsigned char c : raw) {
    hex += digits[c >> 4];
    hex += digits[c & 15];
  }
  return hex;
}

random_ids::random_ids() : nonce_(random_word()) {}

id random_ids::next() {
  const std::uint64_t serial = random_word();
  id i;
  std::memcpy(i.bytes.data(), &nonce_, sizeof nonce_);
  std::memcpy(i.bytes.data() + sizeof nonce_, &serial, sizeof serial);
  return i;
}

}  // namespace tyer::core
