#include "api/acquiring.hpp"

#include <tyer/acquirable.hpp>

namespace tyer {
inline namespace v1 {

using detail::acquire_or_tell;
using detail::acquire_or_throw;
using primitives::patience;

std::string_view acquirable::name() const& noexcept { return state_->what->name; }

hold acquirable::acquire(std::source_location where) const {
  return acquire_or_throw(*state_, patience::for_ever(), {}, where);
}
hold acquirable::acquire(std::stop_token stop, std::source_location where) const {
  return acquire_or_throw(*state_, patience::for_ever(), std::move(stop), where);
}
hold acquirable::acquire(failure& why, std::stop_token stop, std::source_location where) const noexcept {
  return acquire_or_tell(*state_, patience::for_ever(), std::move(stop), where, why);
}

hold acquirable::try_acquire(std::source_location where) const {
  return acquire_or_throw(*state_, patience::once(), {}, where);
}
hold acquirable::try_acquire(failure& why, std::source_location where) const noexcept {
  return acquire_or_tell(*state_, patience::once(), {}, where, why);
}

hold acquirable::acquire_within(std::chrono::nanoseconds at_most, std::stop_token stop,
                                std::source_location where) const {
  return acquire_or_throw(*state_, patience::within(at_most), std::move(stop), where);
}
hold acquirable::acquire_within(failure& why, std::chrono::nanoseconds at_most, std::stop_token stop,
                                std::source_location where) const noexcept {
  return acquire_or_tell(*state_, patience::within(at_most), std::move(stop), where, why);
}

}  // namespace v1
}  // namespace tyer
