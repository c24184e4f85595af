#include "runtime/order_book.hpp"
#include "runtime/order_text.hpp"

#include <tyer/debug.hpp>

#include <algorithm>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace debug {

order::order(order_options options) : book_(runtime::made_for_this_process<detail::order_book>(std::move(options))) {}

std::vector<order_report> order::reports() const { return book_->reports(); }
order_counts order::counts() const noexcept { return book_->counts(); }

std::string order::save() const { return detail::order_text(book_->lines()); }
void order::load(std::string_view text, std::string_view from) {
  const auto book = book_;  // what it calls may destroy this object
  book->add(detail::read_order(text, from));
}

order::scope::scope(const order& in) : book_(in.book_), flow_(detail::order_book::new_flow()) {}
order::scope::~scope() {
  for (const auto& [name, place] : taken_) book_->gave_back(flow_, place);
}

void order::scope::asks(std::string_view name, std::source_location where) { book_->asks(flow_, name, where); }

void order::scope::took(std::string_view name, std::source_location where) {
  taken_.emplace_back(name, 0);
  taken_.back().second = book_->took(flow_, name, where);
}

void order::scope::gave_back(std::string_view name) noexcept {
  const auto last = std::find_if(taken_.rbegin(), taken_.rend(), [&](const auto& t) { return t.first == name; });
  if (last == taken_.rend()) return;
  book_->gave_back(flow_, last->second);
  taken_.erase(std::next(last).base());
}

}  // namespace debug
}  // namespace v1
}  // namespace tyer
