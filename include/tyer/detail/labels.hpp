// Labels that a user adds to those of the table of instruments: for <tyer/prometheus.hpp> and <tyer/opentelemetry.hpp>.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/detail/utf8.hpp>
#include <tyer/error.hpp>
#include <tyer/stats.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

using labels = std::vector<std::pair<std::string, std::string>>;

// "le" is that of the buckets of a histogram in Prometheus, to which others translate.
inline bool is_label_of_a_metric(std::string_view name) {
  const auto has = [&](const instrument& i) {
    return std::find(i.labels.begin(), i.labels.end(), name) != i.labels.end();
  };
  const auto all = instruments();
  return name == "le" || std::any_of(all.begin(), all.end(), has);
}

// In order of their names; throws errc::invalid_option if one is wrong. `called` is what they are, `rule` what a name must be.
template <class IsName>
labels checked_labels(labels with, const std::string& called, IsName is_name, const std::string& rule) {
  const auto require = [](bool fine, const std::string& words) {
    if (!fine) throw error({errc::invalid_option, words});
  };
  std::sort(with.begin(), with.end());
  for (std::size_t i = 0; i < with.size(); ++i) {
    const auto& [name, value] = with[i];
    require(is_name(name), rule);
    require(!is_label_of_a_metric(name), "the " + called + ' ' + name + " is one of the metrics' own");
    require(i == 0 || with[i - 1].first != name, "the " + called + ' ' + name + " is given twice");
    require(is_utf8(value), "the value of the " + called + ' ' + name + " is not UTF-8");
  }
  return with;
}

}  // namespace detail
}  // namespace v1
}  // namespace tyer
