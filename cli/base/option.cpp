#include "base/option.hpp"

#include <CLI/CLI.hpp>

#include <utility>

namespace cli {

option option::required() const { return option{option_->required()}; }
option option::takes(const std::string& what) const { return option{option_->type_name(what)}; }
option option::shows_default() const { return option{option_->capture_default_str()}; }
option option::shows_default(const std::string& text) const { return option{option_->default_str(text)}; }
option option::positive() const { return option{option_->check(CLI::PositiveNumber)}; }
option option::between(int least, int most) const {
  return option{option_->check(CLI::Range(least, most).description(""))};
}
option option::one_of(std::vector<std::string> values) const {
  return option{option_->check(CLI::IsMember(std::move(values)))};
}
option option::not_with(option other) const { return option{option_->excludes(other.option_)}; }

option add_option(CLI::App& app, const std::string& names, std::string& value, const std::string& description) {
  return option{app.add_option(names, value, description)};
}
option add_option(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                  const std::string& description) {
  return option{app.add_option(names, values, description)};
}
option add_option(CLI::App& app, const std::string& names, std::size_t& value, const std::string& description) {
  return option{app.add_option(names, value, description)};
}
option add_option(CLI::App& app, const std::string& names, std::optional<int>& value, const std::string& description) {
  return option{app.add_option(names, value, description)};
}
option add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& description) {
  return option{app.add_flag(names, value, description)};
}

option add_option(CLI::App& app, const std::string& names, read_value read, const std::string& description) {
  return option{app.add_option_function<std::string>(
      names,
      [names, read = std::move(read)](const std::string& text) {
        if (const auto wrong = read(text)) throw CLI::ValidationError(names, *wrong);
      },
      description)};
}

}  // namespace cli
