// What clients have counted, in the data types of the SDK of OpenTelemetry: for <tyer/opentelemetry.hpp>.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/detail/labels.hpp>
#include <tyer/detail/own_process.hpp>
#include <tyer/error.hpp>
#include <tyer/stats.hpp>
#include <tyer/version.hpp>

#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/common/timestamp.h>
#include <opentelemetry/nostd/string_view.h>
#include <opentelemetry/sdk/common/exporter_utils.h>
#include <opentelemetry/sdk/instrumentationscope/instrumentation_scope.h>
#include <opentelemetry/sdk/metrics/data/metric_data.h>
#include <opentelemetry/sdk/metrics/export/metric_producer.h>
#include <opentelemetry/sdk/metrics/instruments.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {
namespace detail {

inline ::opentelemetry::nostd::string_view otel_view(std::string_view text) noexcept {
  return {text.data(), text.size()};
}

// A client whose counters are exported. The counters of one that takes another's place begin at zero: so it has a new number.
struct otel_source {
  std::function<client_stats()> read;
  labels with;
  std::chrono::system_clock::time_point since;
  std::uint64_t number = 0;
};

// In a forked child there are none: nothing is counted there, and the zeros would be less than what was told before.
class otel_sources {
 public:
  void put(std::function<client_stats()> read, labels with) {
    if (!here_.is_this()) throw error(failure{errc::forked});
    const std::lock_guard lock{mutex_};
    otel_source made{std::move(read), std::move(with), std::chrono::system_clock::now(), ++last_};
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const auto& s) { return s.with == made.with; });
    if (same != all_.end())
      *same = std::move(made);
    else
      all_.push_back(std::move(made));
  }
  std::vector<otel_source> all() const {
    if (!here_.is_this()) return {};
    const std::lock_guard lock{mutex_};
    return all_;
  }

 private:
  const own_process here_;
  mutable std::mutex mutex_;
  std::vector<otel_source> all_;
  std::uint64_t last_ = 0;
};

// What was exported before, for exporters that want to be told the difference. At first that is nothing.
class otel_before {
 public:
  explicit otel_before(std::chrono::system_clock::time_point at) noexcept : at_(at) {}
  otel_before(const client_stats& s, std::chrono::system_clock::time_point at) : at_(at) {
    for (const sample& one : samples(s)) {
      auto& told = seen_[key_of(one)];
      told.value = one.value;
      if (one.durations != nullptr) told.durations = *one.durations;
    }
  }

  std::chrono::system_clock::time_point at() const noexcept { return at_; }
  double value(const sample& now) const {
    const auto* before = find(now);
    return before == nullptr ? now.value : now.value - before->value;
  }
  duration_histogram durations(const sample& now) const {
    duration_histogram h = *now.durations;
    if (const auto* before = find(now)) {
      for (std::size_t i = 0; i < h.buckets.size(); ++i) h.buckets[i] -= before->durations.buckets[i];
      h.sum -= before->durations.sum;
    }
    return h;
  }

 private:
  struct seen {
    double value = 0;
    duration_histogram durations;
  };
  using key = std::pair<const instrument*, std::array<std::string, 3>>;
  static key key_of(const sample& s) {
    return {s.of, {std::string{s.values[0]}, std::string{s.values[1]}, std::string{s.values[2]}}};
  }
  const seen* find(const sample& s) const {
    const auto at = seen_.find(key_of(s));
    return at == seen_.end() ? nullptr : &at->second;
  }

  std::chrono::system_clock::time_point at_;
  std::map<key, seen> seen_;
};

// Gives another exporter what it is given, and the clients' counters with it.
class otel_exporter final : public ::opentelemetry::sdk::metrics::PushMetricExporter {
  using time = std::chrono::system_clock::time_point;
  using temporality = ::opentelemetry::sdk::metrics::AggregationTemporality;
  using instrument_type = ::opentelemetry::sdk::metrics::InstrumentType;
  using metric = ::opentelemetry::sdk::metrics::MetricData;
  using result = ::opentelemetry::sdk::common::ExportResult;
  using resource_metrics = ::opentelemetry::sdk::metrics::ResourceMetrics;

 public:
  otel_exporter(std::shared_ptr<const otel_sources> of, std::unique_ptr<PushMetricExporter> to)
      : of_(std::move(of)),
        to_(std::move(to)),
        scope_(::opentelemetry::sdk::instrumentationscope::InstrumentationScope::Create(
            "tyer", otel_view(library_version()))) {}

  result Export(const resource_metrics& data) noexcept override {
    try {
      resource_metrics all{data};
      add_to(all.scope_metric_data_);
      return to_->Export(all);
    } catch (...) {  // no memory
      return to_->Export(data);
    }
  }
  temporality GetAggregationTemporality(instrument_type of) const noexcept override {
    return to_->GetAggregationTemporality(of);
  }
  bool ForceFlush(std::chrono::microseconds at_most) noexcept override { return to_->ForceFlush(at_most); }
  bool Shutdown(std::chrono::microseconds at_most) noexcept override { return to_->Shutdown(at_most); }

 private:
  bool wants_difference(instrument_type of) const noexcept {
    return to_->GetAggregationTemporality(of) == temporality::kDelta;
  }

  // Each client has times of its own, and so its own list.
  void add_to(std::vector<::opentelemetry::sdk::metrics::ScopeMetrics>& all) {
    const bool remember =
        wants_difference(instrument_type::kObservableCounter) || wants_difference(instrument_type::kHistogram);
    std::map<std::uint64_t, otel_before> seen;
    const time now = std::chrono::system_clock::now();
    for (const otel_source& source : of_->all()) {
      const client_stats s = source.read();
      const otel_before nothing{source.since};
      const auto before = before_.find(source.number);
      auto& ours = all.emplace_back();
      ours.scope_ = scope_.get();
      ours.metric_data_ = metrics(s, source, before == before_.end() ? nothing : before->second, now);
      if (remember) seen.emplace(source.number, otel_before{s, now});
    }
    before_ = std::move(seen);
  }

  std::vector<metric> metrics(const client_stats& s, const otel_source& source, const otel_before& before,
                              time now) const {
    const otel_before nothing{source.since};
    const instrument* last = nullptr;
    std::vector<metric> all;
    for (const sample& one : samples(s)) {  // by instrument
      const auto type = type_of(*one.of);
      const bool delta = wants_difference(type);
      const auto& begin = delta ? before : nothing;
      if (std::exchange(last, one.of) != one.of) all.push_back(described(*one.of, type, delta, begin.at(), now));
      all.back().point_data_attr_.push_back(point(one, begin, source.with, now));
    }
    return all;
  }

  static instrument_type type_of(const instrument& i) noexcept {
    return i.kind == instrument_kind::counter ? instrument_type::kObservableCounter
           : i.kind == instrument_kind::gauge ? instrument_type::kObservableGauge
                                              : instrument_type::kHistogram;
  }

  static metric described(const instrument& i, instrument_type type, bool delta, time begin, time end) {
    using value = ::opentelemetry::sdk::metrics::InstrumentValueType;
    metric m;
    m.instrument_descriptor = {std::string{i.name}, std::string{i.help}, std::string{i.unit}, type,
                               i.unit == "s" ? value::kDouble : value::kLong};
    m.aggregation_temporality = delta ? temporality::kDelta : temporality::kCumulative;
    m.start_ts = ::opentelemetry::common::SystemTimestamp{begin};
    m.end_ts = ::opentelemetry::common::SystemTimestamp{end};
    return m;
  }

  static ::opentelemetry::sdk::metrics::PointDataAttributes point(const sample& s, const otel_before& before,
                                                                  const labels& with, time now) {
    ::opentelemetry::sdk::metrics::PointDataAttributes p;
    for (const auto& [key, value] : with) p.attributes.SetAttribute(otel_view(key), otel_view(value));
    for (std::size_t i = 0; i < s.of->labels.size(); ++i) {
      p.attributes.SetAttribute(otel_view(s.of->labels[i]), otel_view(s.values[i]));
    }
    if (s.durations != nullptr)
      p.point_data = histogram(before.durations(s));
    else if (s.of->kind == instrument_kind::counter)
      p.point_data = sum(before.value(s));
    else
      p.point_data = last_value(s, now);
    return p;
  }

  static double seconds(std::chrono::nanoseconds d) noexcept { return static_cast<double>(d.count()) / 1e9; }

  static ::opentelemetry::sdk::metrics::HistogramPointData histogram(const duration_histogram& h) {
    ::opentelemetry::sdk::metrics::HistogramPointData shown;
    for (const auto bound : duration_histogram::bounds) shown.boundaries_.push_back(seconds(bound));
    shown.counts_.assign(h.buckets.begin(), h.buckets.end());
    shown.count_ = h.count();
    shown.sum_ = seconds(h.sum);
    shown.record_min_max_ = false;  // not known
    return shown;
  }
  static ::opentelemetry::sdk::metrics::SumPointData sum(double value) {
    ::opentelemetry::sdk::metrics::SumPointData shown;
    shown.value_ = static_cast<std::int64_t>(value);
    shown.is_monotonic_ = true;
    return shown;
  }
  static ::opentelemetry::sdk::metrics::LastValuePointData last_value(const sample& s, time now) {
    ::opentelemetry::sdk::metrics::LastValuePointData shown;
    if (s.of->unit == "s")
      shown.value_ = s.value;
    else
      shown.value_ = static_cast<std::int64_t>(s.value);
    shown.is_lastvalue_valid_ = true;
    shown.sample_ts_ = ::opentelemetry::common::SystemTimestamp{now};
    return shown;
  }

  const std::shared_ptr<const otel_sources> of_;
  const std::unique_ptr<PushMetricExporter> to_;
  const ::opentelemetry::nostd::unique_ptr<::opentelemetry::sdk::instrumentationscope::InstrumentationScope> scope_;
  std::map<std::uint64_t, otel_before> before_;  // by the number of the source
};

}  // namespace detail
}  // namespace v1
}  // namespace tyer
