// The words and options that a command takes. Behind this stands CLI11, whose headers take ten seconds to compile: only what reads
// the command line (main, arguments), what prints its help (help/page) and this know of it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cli {

// One that was added. It can be told more of it, one after the other.
class option {
 public:
  explicit option(CLI::Option* o) : option_(o) {}
  option required() const;
  option takes(const std::string& what) const;  // as --help writes it, like FILE
  option shows_default() const;                 // what the value is now
  option shows_default(const std::string& text) const;
  option positive() const;
  option between(int least, int most) const;
  option one_of(std::vector<std::string> values) const;
  option not_with(option other) const;

 private:
  CLI::Option* option_;
};

// "-s,--shared" is an option, "NAME" is a word. The value must live until the command line has been read.
option add_option(CLI::App&, const std::string& names, std::string& value, const std::string& description);
option add_option(CLI::App&, const std::string& names, std::vector<std::string>& values,
                  const std::string& description);
option add_option(CLI::App&, const std::string& names, std::size_t& value, const std::string& description);
option add_option(CLI::App&, const std::string& names, std::optional<int>& value, const std::string& description);
option add_flag(CLI::App&, const std::string& names, bool& value, const std::string& description);

// `read` takes the value, or says what is wrong with it.
using read_value = std::function<std::optional<std::string>(const std::string& text)>;
option add_option(CLI::App&, const std::string& names, read_value read, const std::string& description);

}  // namespace cli
