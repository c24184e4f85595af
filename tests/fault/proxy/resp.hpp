// Where one message of the Redis protocol ends and the next begins, in a stream of RESP2 or RESP3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fault {

// Fed with bytes as they come; remembers how far it got, so that each byte is looked at once.
class resp_scanner {
 public:
  // Looks at `data`, which starts where the current message starts and must still hold all of it. Gives the length of
  // the message if it is complete, and is then ready for the next one. Throws std::runtime_error if this is not RESP.
  std::optional<std::size_t> scan(std::string_view data);

 private:
  void header(std::string_view line);

  std::size_t at_ = 0;
  std::size_t values_left_ = 1;  // nesting needs no stack: an array of n only means n values more
};

// The words of a request, which is an array of bulk strings. Views into `message`.
std::vector<std::string_view> words_of(std::string_view message);

}  // namespace fault
