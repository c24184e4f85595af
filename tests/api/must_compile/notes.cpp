// A note owns its text: options may be kept, and made of temporaries.
#include <tyer/tyer.hpp>

#include <string>
#include <string_view>
#include <type_traits>

static_assert(std::is_same_v<decltype(tyer::lock_options::note), std::string>);

tyer::lock_options kept(const std::string& host, std::string_view address) {
  tyer::lock_options o{.note = host + ":8080"};
  o.note = address;
  o.note = "10.0.0.7:8080";
  return o;
}
