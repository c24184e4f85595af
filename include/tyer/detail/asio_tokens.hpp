// Teaches Boost.Asio's completion tokens about tyer::failure. Not for direct use: <tyer/asio.hpp>.
#pragma once

#include <tyer/error.hpp>

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/disposition.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/system/error_code.hpp>

#include <exception>
#include <type_traits>
#include <utility>

// co_await and use_future throw tyer::error, with the engine's words.
template <>
struct boost::asio::disposition_traits<tyer::failure> {
  static bool not_an_error(const tyer::failure& f) noexcept { return !f; }
  static void throw_exception(const tyer::failure& f) { throw tyer::error(f); }
  static std::exception_ptr to_exception_ptr(const tyer::failure& f) noexcept {
    return f ? std::make_exception_ptr(tyer::error(f)) : nullptr;
  }
};

namespace tyer {
inline namespace v1 {
namespace detail {

// ---- redirect_error: Asio's own handles only boost::system::error_code

template <class Handler>
struct redirected {
  boost::system::error_code* to;
  Handler handler;

  template <class... Args>
  void operator()(const failure& f, Args&&... args) {
    *to = f.code;
    std::move(handler)(std::forward<Args>(args)...);
  }
};

// Derives from the initiation, so that its associated executor and allocator stay visible.
template <class Initiation>
struct redirecting : Initiation {
  explicit redirecting(Initiation i) : Initiation(std::move(i)) {}

  template <class Handler, class... Args>
  void operator()(Handler&& handler, boost::system::error_code* to, Args&&... args) && {
    static_cast<Initiation&&>(*this)(redirected<std::decay_t<Handler>>{to, std::forward<Handler>(handler)},
                                     std::forward<Args>(args)...);
  }
  template <class Handler, class... Args>
  void operator()(Handler&& handler, boost::system::error_code* to, Args&&... args) const& {
    static_cast<const Initiation&>(*this)(redirected<std::decay_t<Handler>>{to, std::forward<Handler>(handler)},
                                          std::forward<Args>(args)...);
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer

template <template <class, class> class Associator, class Handler, class Default>
struct boost::asio::associator<Associator, tyer::detail::redirected<Handler>, Default> : Associator<Handler, Default> {
  static auto get(const tyer::detail::redirected<Handler>& h) noexcept {
    return Associator<Handler, Default>::get(h.handler);
  }
  static auto get(const tyer::detail::redirected<Handler>& h, const Default& d) noexcept
      -> decltype(Associator<Handler, Default>::get(h.handler, d)) {
    return Associator<Handler, Default>::get(h.handler, d);
  }
};

template <class Token, class... Answer>
struct boost::asio::async_result<boost::asio::redirect_error_t<Token>, void(tyer::failure, Answer...)>
    : boost::asio::async_result<Token, void(Answer...)> {
  template <class Initiation, class RawToken, class... Args>
  static auto initiate(Initiation&& initiation, RawToken&& token, Args&&... args) {
    using inner = std::conditional_t<std::is_const_v<std::remove_reference_t<RawToken>>, const Token, Token>;
    return boost::asio::async_initiate<inner, void(Answer...)>(
        tyer::detail::redirecting<std::decay_t<Initiation>>{std::forward<Initiation>(initiation)}, token.token_,
        &token.ec_, std::forward<Args>(args)...);
  }
};
