// The compiled parts of Boost.MySQL, once; and of Boost.Charconv what they need, by the standard library: only headers of Boost are
// used.
#include "engines/mysql/socket_of.hpp"

#include <boost/charconv/from_chars.hpp>
#include <boost/charconv/to_chars.hpp>
#include <boost/mysql/src.hpp>

#include <charconv>
#include <type_traits>

namespace boost::charconv {

namespace {

std::chars_format standard(chars_format f) noexcept {
  switch (f) {
    case chars_format::fixed: return std::chars_format::fixed;
    case chars_format::scientific: return std::chars_format::scientific;
    case chars_format::hex: return std::chars_format::hex;
    default: return std::chars_format::general;
  }
}

template <class T>
from_chars_result read(const char* first, const char* last, T& v, chars_format f) noexcept {
  const auto r = std::from_chars(first, last, v, standard(f));
  return {r.ptr, r.ec};
}

}  // namespace

from_chars_result from_chars(const char* first, const char* last, double& v, chars_format f) noexcept {
  return read(first, last, v, f);
}

from_chars_result from_chars(const char* first, const char* last, float& v, chars_format f) noexcept {
  return read(first, last, v, f);
}

to_chars_result to_chars(char* first, char* last, double v, chars_format f) noexcept {
  const auto r = std::to_chars(first, last, v, standard(f));
  return {r.ptr, r.ec};
}

}  // namespace boost::charconv

namespace tyer::mysql {

namespace {

template <class Connection>
int find(Connection& c) noexcept {
  namespace inside = boost::mysql::detail;
  using engine = inside::engine_impl<inside::variant_stream>;
  constexpr bool is_there = requires(Connection& of) {
    static_cast<const engine&>(inside::access::get_impl(of).get_engine()).stream().socket();
  };
  if constexpr (is_there) {
    const auto& socket = static_cast<const engine&>(inside::access::get_impl(c).get_engine()).stream().socket();
    using open = std::remove_cvref_t<decltype(socket)>;
    return const_cast<open&>(socket).native_handle();
  } else {
    return -1;
  }
}

}  // namespace

int socket_of(boost::mysql::any_connection& c) noexcept { return find(c); }

}  // namespace tyer::mysql
