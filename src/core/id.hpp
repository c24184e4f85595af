// The 128 bits that name an attempt, a place in a queue and a hold: one and the same id, fixed before the first request.
#pragma once

#include <tyer/export.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tyer::core {

// The first half is the client's nonce: so an id also says which client's inbox to write to.
struct id {
  std::array<std::byte, 16> bytes{};

  friend auto operator<=>(const id&, const id&) = default;

  std::uint64_t nonce() const noexcept { return half(0); }
  std::uint64_t serial() const noexcept { return half(8); }
  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  explicit operator bool() const noexcept { return *this != id{}; }

  // From 16 raw bytes; anything else gives the null id.
  TYER_EXPORT static id from(std::string_view raw) noexcept;

 private:
  std::uint64_t half(std::size_t at) const noexcept {
    std::uint64_t v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    return v;
  }
};

TYER_EXPORT std::string to_hex(std::string_view raw);
inline std::string to_hex(const id& i) { return to_hex(i.view()); }

struct id_hash {
  std::size_t operator()(const id& i) const noexcept { return static_cast<std::size_t>(i.serial()); }
};

// Where ids come from. A seam: simulations count, production asks the kernel.
class id_source {
 public:
  virtual ~id_source() = default;
  virtual std::uint64_t nonce() const noexcept = 0;
  virtual id next() = 0;
};

// Every id from getrandom(2), never from a generator whose state a fork or a restored snapshot would repeat.
class TYER_EXPORT random_ids final : public id_source {
 public:
  random_ids();
  std::uint64_t nonce() const noexcept override { return nonce_; }
  id next() override;

 private:
  std::uint64_t nonce_;
};

}  // namespace tyer::core
