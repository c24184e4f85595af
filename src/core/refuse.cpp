#include <tyer/detail/refuse.hpp>

#include <stdexcept>

namespace tyer {
inline namespace v1 {
namespace detail {

void refuse(const char* words) { throw std::invalid_argument{words}; }

}  // namespace detail
}  // namespace v1
}  // namespace tyer
