// Locks that OpenTelemetry sees, through opentelemetry-cpp: what a client has counted, and who had the lock that a request waited
// for. Prints both; a program of yours has exporters of OTLP in their place.
//
//   opentelemetry redis://127.0.0.1:6379
#include <tyer/opentelemetry.hpp>
#include <tyer/tyer.hpp>

#include <opentelemetry/exporters/ostream/metric_exporter_factory.h>
#include <opentelemetry/exporters/ostream/span_exporter_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_factory.h>
#include <opentelemetry/sdk/metrics/meter_provider.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>

#include <iostream>
#include <string_view>
#include <utility>

using namespace std::chrono_literals;
namespace otel = opentelemetry::exporter;
namespace sdk = opentelemetry::sdk;

int main(int argc, char** argv) try {
  const std::string_view uri = argc > 1 ? argv[1] : "memory://";
  sdk::trace::TracerProvider tracers{
      sdk::trace::SimpleSpanProcessorFactory::Create(otel::trace::OStreamSpanExporterFactory::Create())};
  // [waits]
  const tyer::opentelemetry_waits waits{tracers.GetTracer("shop")};
  tyer::client client{uri, {.on_event = waits.hook(), .slow_wait = 200ms}};
  // [waits]
  sdk::metrics::MeterProvider meters;
  auto exporter = otel::metrics::OStreamMetricExporterFactory::Create();
  // [metrics]
  const tyer::opentelemetry_metrics locks{client};
  auto reader = sdk::metrics::PeriodicExportingMetricReaderFactory::Create(locks.exporter(std::move(exporter)), {});
  meters.AddMetricReader(std::move(reader));
  // [metrics]

  tyer::client other{uri, {.label = "night-report"}};
  const tyer::hold theirs = tyer::mutex{other, "order/42"}.acquire();
  const tyer::mutex order{client, "order/42"};
  // [around]
  const tyer::hold h = waits.around(order, [&] { return order.try_acquire_for(500ms); });
  // [around]
  return !h && meters.ForceFlush() ? 0 : 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
