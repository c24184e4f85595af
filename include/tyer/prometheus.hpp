// The stats of a client for Prometheus, made from the table of <tyer/stats.hpp>. Needs prometheus-cpp, which you provide.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/client.hpp>
#include <tyer/detail/labels.hpp>
#include <tyer/detail/own_process.hpp>
#include <tyer/error.hpp>
#include <tyer/stats.hpp>

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

// As Prometheus spells it: "tyer_acquire_duration_seconds", "tyer_losses_total".
inline std::string prometheus_name(const instrument& i) {
  std::string name{i.name};
  std::replace(name.begin(), name.end(), '.', '_');
  if (i.unit == "s") name += "_seconds";
  if (i.kind == instrument_kind::counter) name += "_total";
  return name;
}

// A Collectable for an Exposer or for your own registry.
//
//   prometheus::Exposer exposer{"127.0.0.1:9464"};
//   auto shown = std::make_shared<tyer::prometheus_collector>(client);
//   exposer.RegisterCollectable(shown);                                 // it keeps no more than a weak_ptr
//
// Several clients of one program share a collector, each with labels of its own: shown->add(other, {{"engine", "etcd"}}). A client
// with the same labels as one added before takes its place, as a new client in place of one that is gone. Two collectors in one
// Exposer would describe each metric twice, which promtool and some scrapers refuse.
//
// Thread safety: everything may be called from any thread. Lifetimes: it may outlive the client. After fork() the child's copy shows
// nothing.
class prometheus_collector final : public ::prometheus::Collectable {
 public:
  using labels = std::vector<std::pair<std::string, std::string>>;

  // Both throw errc::invalid_option for labels with which Prometheus would refuse all that is shown: a name that is not made of
  // letters, digits and _, or is one of the metrics' own ("group"), or is given twice; a value that is not UTF-8.
  explicit prometheus_collector(const client& c, labels with = {}) { add(c, std::move(with)); }

  void add(const client& c, labels with) {
    if (!here_.is_this()) throw error(failure{errc::forked});
    with = detail::checked_labels(std::move(with), "label", is_label,
                                  "a label's name has letters, digits and _, no digit first, and no two _ first");
    auto read = c.stats_reader();
    const std::lock_guard lock{mutex_};
    const auto same = std::find_if(sources_.begin(), sources_.end(), [&](const auto& s) { return s.second == with; });
    if (same != sources_.end())
      same->first = std::move(read);
    else
      sources_.emplace_back(std::move(read), std::move(with));
  }

  std::vector<::prometheus::MetricFamily> Collect() const override {
    std::vector<::prometheus::MetricFamily> all;
    if (!here_.is_this()) return all;
    std::map<const instrument*, std::size_t> places;
    const std::lock_guard lock{mutex_};
    for (const auto& [read, with] : sources_) {
      const client_stats s = read();
      for (const sample& one : samples(s)) {
        const auto [at, is_new] = places.try_emplace(one.of, all.size());
        if (is_new) all.push_back(family(*one.of));
        all[at->second].metric.push_back(metric(one, with));
      }
    }
    return all;
  }

 private:
  static bool is_label(const std::string& name) {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return !name.empty() && !is_digit(name.front()) && name.rfind("__", 0) != 0 &&
           std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || is_digit(c); });
  }

  static double seconds(std::chrono::nanoseconds d) { return static_cast<double>(d.count()) / 1e9; }

  static ::prometheus::MetricFamily family(const instrument& i) {
    using type = ::prometheus::MetricType;
    ::prometheus::MetricFamily f;
    f.name = prometheus_name(i);
    f.help = i.help;
    f.type = i.kind == instrument_kind::counter ? type::Counter
             : i.kind == instrument_kind::gauge ? type::Gauge
                                                : type::Histogram;
    return f;
  }

  static ::prometheus::ClientMetric metric(const sample& s, const labels& with) {
    ::prometheus::ClientMetric m;
    for (const auto& [key, value] : with) m.label.push_back({key, value});
    for (std::size_t i = 0; i < s.of->labels.size(); ++i) {
      m.label.push_back({std::string{s.of->labels[i]}, std::string{s.values[i]}});
    }
    if (s.durations != nullptr) {
      m.histogram = histogram(*s.durations);
    } else if (s.of->kind == instrument_kind::counter) {
      m.counter.value = s.value;
    } else {
      m.gauge.value = s.value;
    }
    return m;
  }

  static ::prometheus::ClientMetric::Histogram histogram(const duration_histogram& h) {
    ::prometheus::ClientMetric::Histogram shown;
    shown.sample_count = h.count();
    shown.sample_sum = seconds(h.sum);
    std::uint64_t so_far = 0;
    for (std::size_t i = 0; i < h.buckets.size(); ++i) {
      so_far += h.buckets[i];
      const bool above_all = i == h.bounds.size();
      shown.bucket.push_back({so_far, above_all ? std::numeric_limits<double>::infinity() : seconds(h.bounds[i])});
    }
    return shown;
  }

  const detail::own_process here_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::function<client_stats()>, labels>> sources_;
};

}  // namespace v1
}  // namespace tyer
