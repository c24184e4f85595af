// The names of a multi_mutex: as whatever one has them.
#include <tyer/tyer.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

using namespace std::chrono_literals;
using part = tyer::multi_mutex::part;

static_assert(std::is_copy_assignable_v<part> && std::is_move_assignable_v<part>);

void names(tyer::client& c, const std::string& from, std::string_view to, const char* more) {
  const tyer::multi_mutex literals{c, {"a", "b"}};
  const tyer::multi_mutex one{c, {"a"}, {.ttl = 5s}};
  const tyer::multi_mutex mixed{c, {from, to, more, "order/" + from}, {.ttl = 5s, .note = from}};
  const std::vector<std::string> strings{"a", "b"};
  const tyer::multi_mutex of_strings{c, strings};
  const tyer::multi_mutex of_temporary{c, std::vector<std::string>{"a", "b"}, {.ttl = 5s}};
  const std::vector<std::string_view> views{"a", "b"};
  const tyer::multi_mutex of_views{c, views};
  std::array<std::string, 2> array{"a", "b"};
  const tyer::multi_mutex of_array{c, array};
  const std::string_view plain[]{"a", "b"};
  const tyer::multi_mutex of_plain{c, plain};
  const tyer::multi_mutex of_span{c, std::span{strings}.first(1)};
}

void parts(tyer::client& c, tyer::client& d, const std::string& id) {
  const tyer::multi_mutex one{{{c, "a"}}}, flat{{c, "a"}, {d, "b"}};
  const tyer::multi_mutex two{{{c, "a"}, {d, "order/" + id}}, {.ttl = 5s}};
  std::vector<part> all{{c, "b"}, {d, "a"}};
  all.emplace_back(c, "order/" + id);
  std::sort(all.begin(), all.end(), [](const part& a, const part& b) { return a.name < b.name; });
  all.front() = {d, "c"};
  all.erase(all.begin());
  const tyer::multi_mutex sorted{all}, some{std::span{all}.first(1), {.ttl = 5s}};
}
