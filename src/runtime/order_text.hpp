// The pairs of an order book as text: a heading, then a line for each pair, with tabs between its fields.
//
//   tyer-order 1
//   stock	order.cc:87	order/7	order.cc:91
//
// Names may have any bytes: what is not printable is written as \xNN. Anybody may have written what is read.
#pragma once

#include "runtime/order_book.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

std::string order_text(const std::vector<order_line>& all);

// `from` is put before the call sites. Throws errc::invalid_option.
std::vector<order_line> read_order(std::string_view text, std::string_view from);

}  // namespace detail
}  // namespace v1
}  // namespace tyer
