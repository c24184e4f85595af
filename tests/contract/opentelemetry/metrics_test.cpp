// What a client has counted, in the hands of the real SDK of OpenTelemetry.
#include "contract/opentelemetry/names.hpp"

#include <tyer/opentelemetry.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>
#include <opentelemetry/exporters/memory/in_memory_metric_data.h>
#include <opentelemetry/exporters/memory/in_memory_metric_exporter_factory.h>
#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/sync_instruments.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_factory.h>
#include <opentelemetry/sdk/metrics/meter_provider.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace contract {
namespace otel_metrics {
namespace {

using namespace std::chrono_literals;
namespace memory = opentelemetry::exporter::memory;
namespace nostd = opentelemetry::nostd;
namespace sdk = opentelemetry::sdk::metrics;
using tyer::errc;

using exports = std::vector<std::unique_ptr<sdk::ResourceMetrics>>;

class opentelemetry_metrics : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(client.wait_ready(20s)); }

  // As a program has it: a provider with one reader. It exports once at its start, and then when the test asks.
  void show(const tyer::opentelemetry_metrics& locks,
            sdk::AggregationTemporality how = sdk::AggregationTemporality::kCumulative) {
    auto inner = memory::InMemoryMetricExporterFactory::Create(data, [how](sdk::InstrumentType) { return how; });
    provider.AddMetricReader(sdk::PeriodicExportingMetricReaderFactory::Create(
        locks.exporter(std::move(inner)), {.export_interval_millis = 1h, .export_timeout_millis = 10s}));
    flush();
  }
  exports flush() {
    const bool done = provider.ForceFlush();
    auto all = data->Get();
    if (!done || all.empty()) throw std::runtime_error("nothing was exported");
    return all;
  }
  // The last export, by scope, metric and attributes.
  std::unique_ptr<memory::SimpleAggregateInMemoryMetricData> shown() {
    auto all = flush();
    auto last = std::make_unique<memory::SimpleAggregateInMemoryMetricData>();
    last->Add(std::move(all.back()));
    return last;
  }

  void use(const tyer::mutex& m, int times) {
    for (int i = 0; i < times; ++i) m.acquire().release();
  }

  tyer::client client{otel_uri(), {.request_timeout = 5s}};
  const std::string name = otel_name();
  const tyer::mutex order{client, name, {.ttl = 60s, .group = "orders"}};
  const std::shared_ptr<memory::CircularBufferInMemoryMetricData> data =
      std::make_shared<memory::CircularBufferInMemoryMetricData>(100);
  sdk::MeterProvider provider;
};

sdk::PointAttributes attributes_of(const tyer::sample& s, const tyer::opentelemetry_metrics::attributes& with = {}) {
  const auto view = [](std::string_view text) { return nostd::string_view{text.data(), text.size()}; };
  sdk::PointAttributes all;
  for (std::size_t i = 0; i < s.of->labels.size(); ++i) all.SetAttribute(view(s.of->labels[i]), view(s.values[i]));
  for (const auto& [key, value] : with) all.SetAttribute(view(key), view(value));
  return all;
}

double number(const sdk::ValueType& v) {
  return nostd::holds_alternative<double>(v) ? nostd::get<double>(v) : static_cast<double>(nostd::get<std::int64_t>(v));
}

void expect_same(const tyer::sample& s, const sdk::PointType& p) {
  if (s.durations == nullptr) {
    const bool counts = s.of->kind == tyer::instrument_kind::counter;
    const auto shown = counts ? number(nostd::get<sdk::SumPointData>(p).value_)
                              : number(nostd::get<sdk::LastValuePointData>(p).value_);
    EXPECT_DOUBLE_EQ(shown, s.value);
    return;
  }
  const auto& h = nostd::get<sdk::HistogramPointData>(p);
  EXPECT_EQ(h.count_, s.durations->count());
  EXPECT_EQ(h.counts_, std::vector<std::uint64_t>(s.durations->buckets.begin(), s.durations->buckets.end()));
  EXPECT_EQ(h.boundaries_.size() + 1, h.counts_.size());
  EXPECT_DOUBLE_EQ(h.boundaries_.front(), 0.0001);
  EXPECT_NEAR(number(h.sum_), std::chrono::duration<double>(s.durations->sum).count(), 1e-9);
}

TEST_F(opentelemetry_metrics, all_of_the_table_reaches_the_exporter) {
  const tyer::opentelemetry_metrics locks{client, {{"engine", "the one of the test"}}};
  show(locks);
  use(order, 3);
  tyer::client other{otel_uri()};
  {
    const tyer::hold h = tyer::mutex{other, name, {.ttl = 60s}}.acquire();
    const tyer::hold none = order.try_acquire(), none_either = order.try_acquire_for(500ms);
    EXPECT_FALSE(none || none_either);
  }
  const tyer::hold held = order.acquire();
  ASSERT_TRUE(held.confirm());

  std::unique_ptr<memory::SimpleAggregateInMemoryMetricData> told;
  tyer::client_stats s;
  do {  // until nothing was counted meanwhile: the place in the queue is given back behind the caller
    s = client.stats();
    told = shown();
  } while (tyer::to_json(s) != tyer::to_json(client.stats()));
  std::size_t points = 0;
  for (const tyer::sample& one : tyer::samples(s)) {
    SCOPED_TRACE(one.of->name);
    const auto& all = told->Get("tyer", std::string{one.of->name});
    const auto at = all.find(attributes_of(one, {{"engine", "the one of the test"}}));
    ASSERT_NE(at, all.end());
    expect_same(one, at->second);
    points += one.durations != nullptr && one.durations->count() > 0;
  }
  EXPECT_GE(points, 6U) << "acquires that ended in four ways, holds, requests";
}

TEST_F(opentelemetry_metrics, are_differences_if_the_exporter_prefers_them) {
  const tyer::opentelemetry_metrics locks{client};
  show(locks, sdk::AggregationTemporality::kDelta);
  const auto acquired = [&] {
    std::uint64_t sum = 0;
    for (auto& one : flush()) {
      memory::SimpleAggregateInMemoryMetricData told;
      told.Add(std::move(one));
      for (const auto& [with, point] : told.Get("tyer", "tyer.acquire.duration")) {
        sum += nostd::get<sdk::HistogramPointData>(point).count_;
      }
    }
    return sum;
  };
  use(order, 3);
  EXPECT_EQ(acquired(), 3U);
  use(order, 2);
  EXPECT_EQ(acquired(), 2U);
  EXPECT_EQ(acquired(), 0U);
}

// It was: the zeros of the child, less what the parent had been told of.
TEST_F(opentelemetry_metrics, of_a_forked_child_were_less_than_nothing) {
  const tyer::opentelemetry_metrics locks{client};
  const auto exporter = locks.exporter(memory::InMemoryMetricExporterFactory::Create(
      data, [](sdk::InstrumentType) { return sdk::AggregationTemporality::kDelta; }));
  const auto clients_shown = [&] {
    exporter->Export(sdk::ResourceMetrics{});
    return data->Get().back()->scope_metric_data_.size();
  };
  use(order, 3);
  ASSERT_EQ(clients_shown(), 1U);
  const auto child = ::fork();
  if (child == 0) ::_exit(clients_shown() == 0 ? 0 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(opentelemetry_metrics, go_beside_those_of_the_program) {
  const tyer::opentelemetry_metrics locks{client};
  show(locks);
  const auto sold = provider.GetMeter("shop")->CreateUInt64Counter("sold");
  sold->Add(5);
  const auto told = shown();
  ASSERT_EQ(told->Get("shop", "sold").size(), 1U);
  EXPECT_EQ(number(nostd::get<sdk::SumPointData>(told->Get("shop", "sold").begin()->second).value_), 5);
  EXPECT_FALSE(told->Get("tyer", "tyer.holds").empty());
}

TEST_F(opentelemetry_metrics, of_a_client_that_takes_anothers_place_and_of_one_that_is_gone) {
  {
    const tyer::client gone{"memory://gone"};
    use(tyer::mutex{gone, name}, 7);
    const tyer::opentelemetry_metrics locks{gone, {{"of", "x"}}};
    locks.add(client, {{"of", "x"}});
    locks.add(gone, {{"of", "y"}});
    show(locks);
  }
  use(order, 1);
  std::size_t acquired = 0;
  const auto told = shown();
  for (const auto& [with, point] : told->Get("tyer", "tyer.hold.duration")) {
    acquired += nostd::get<sdk::HistogramPointData>(point).count_;
    EXPECT_TRUE(with.count("of"));
  }
  EXPECT_EQ(acquired, 8U) << "seven of the one that is gone, and one of the other";
}

TEST_F(opentelemetry_metrics, refuse_attributes_that_would_not_be_understood) {
  const tyer::opentelemetry_metrics locks{client};
  const std::vector<tyer::opentelemetry_metrics::attributes> all{
      {{"", "x"}}, {{"group", "x"}}, {{"le", "x"}}, {{"\xff", "x"}}, {{"v", "\xed\xa0\x80"}}, {{"v", "1"}, {"v", "2"}}};
  for (const auto& with : all) {
    try {
      locks.add(client, with);
      ADD_FAILURE() << with.front().first;
    } catch (const tyer::error& e) {
      EXPECT_EQ(e.code(), errc::invalid_option);
    }
  }
  EXPECT_THROW(static_cast<void>(locks.exporter(nullptr)), tyer::error);
}

}  // namespace
}  // namespace otel_metrics
}  // namespace contract
