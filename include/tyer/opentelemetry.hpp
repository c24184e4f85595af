// Clients for OpenTelemetry: their counters, from the table of <tyer/stats.hpp>, and spans around waits, which say who had the lock.
// Needs the API and the SDK of opentelemetry-cpp, which you provide; counters need an exporter that is pushed to, as that of OTLP.
#pragma once

#include <tyer/detail/cxx20.hpp>

#include <tyer/acquirable.hpp>
#include <tyer/client.hpp>
#include <tyer/detail/labels.hpp>
#include <tyer/detail/opentelemetry_export.hpp>
#include <tyer/detail/utf8.hpp>
#include <tyer/error.hpp>
#include <tyer/event.hpp>
#include <tyer/hold.hpp>
#include <tyer/options.hpp>

#include <opentelemetry/common/attribute_value.h>
#include <opentelemetry/nostd/shared_ptr.h>
#include <opentelemetry/sdk/metrics/push_metric_exporter.h>
#include <opentelemetry/trace/span.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tyer {
inline namespace v1 {

// The counters of clients, beside the metrics of your own. The API of OpenTelemetry has no histograms that somebody else has
// counted, so they are added in front of your exporter, each time it is given something:
//
//   tyer::opentelemetry_metrics locks{client};
//   auto reader = metrics::PeriodicExportingMetricReaderFactory::Create(locks.exporter(std::move(otlp)), {});
//
// Names, units and attributes are those of the table; cumulative or as differences, as your exporter prefers. A reader that is
// pulled from has no exporter: for Prometheus there is <tyer/prometheus.hpp>.
//
// Thread safety: everything may be called from any thread. Lifetimes: it, and its exporters, may outlive the clients, and the
//   exporters may outlive it. A copy shows the same clients. After fork() the child's copy shows none.
class opentelemetry_metrics {
 public:
  using attributes = std::vector<std::pair<std::string, std::string>>;

  // Several clients of one program have attributes of their own; one with the same attributes as one added before takes its place.
  // Both throw errc::invalid_option for attributes without a name, given twice, of the table itself ("group"), or not in UTF-8.
  explicit opentelemetry_metrics(const client& c, attributes with = {})
      : sources_(std::make_shared<detail::otel_sources>()) {
    add(c, std::move(with));
  }
  void add(const client& c, attributes with) const {
    const auto is_name = [](const std::string& name) { return !name.empty() && detail::is_utf8(name); };
    with = detail::checked_labels(std::move(with), "attribute", is_name, "an attribute's name is not empty, and UTF-8");
    sources_->put(c.stats_reader(), std::move(with));
  }

  // Gives `to` all that it is given, and the counters of the clients.
  [[nodiscard]] std::unique_ptr<::opentelemetry::sdk::metrics::PushMetricExporter> exporter(
      std::unique_ptr<::opentelemetry::sdk::metrics::PushMetricExporter> to) const {
    if (!to) throw error({errc::invalid_option, "there is no exporter to give the counters to"});
    return std::make_unique<detail::otel_exporter>(sources_, std::move(to));
  }

 private:
  std::shared_ptr<detail::otel_sources> sources_;
};

namespace detail {

using otel_span = ::opentelemetry::nostd::shared_ptr<::opentelemetry::trace::Span>;
struct otel_open_spans {
  std::mutex mutex;
  std::multimap<std::string, otel_span, std::less<>> all;  // by the name of the lock
};

}  // namespace detail

// A span around one wait for a lock, named "tyer.acquire". It is a child of the span that was active where it began.
//
//   attribute                | when                               | what
//   -------------------------+------------------------------------+------------------------------------------------------------
//   tyer.lock.name           | always                             |
//   tyer.outcome             | always                             | acquired, not_acquired, failed; abandoned: nobody called end()
//   tyer.lock.token          | end(hold), if there is one         |
//   tyer.lock.group          | the wait was reported as slow      | lock_options::group
//   tyer.waiters             | the same                           | callers of this client that wait with the same options
//   tyer.holders             | the same, if the engine said who   | how many hold it
//   tyer.holder, .host, .pid,| the same, if somebody did          | the first of them, as it says itself: .since is when it asked
//     .label, .site, .since  |                                    |   for the lock, by its clock
//
// Each report (client_options::slow_wait) is also an event of the span, "tyer.slow_wait", with event::text: who held it then.
//
// Thread safety: as any object.
class [[nodiscard]] opentelemetry_wait {
 public:
  opentelemetry_wait(opentelemetry_wait&& other) noexcept
      : in_(std::move(other.in_)), at_(other.at_), span_(std::move(other.span_)) {}
  opentelemetry_wait& operator=(opentelemetry_wait&&) = delete;
  ~opentelemetry_wait() { finish("abandoned"); }

  // The wait is over. Calls behind the first do nothing.
  void end(bool acquired) noexcept { finish(acquired ? "acquired" : "not_acquired"); }
  void end(const hold& h) noexcept {
    if (span_ && h) {
      try {
        span_->SetAttribute("tyer.lock.token", static_cast<std::int64_t>(h.token()));
      } catch (const std::exception&) {  // the engine has no tokens
      }
    }
    end(static_cast<bool>(h));
  }
  void end(const failure& why) noexcept {
    if (!why) return end(false);
    fail([&] { return why.message(); });
  }

 private:
  friend class opentelemetry_waits;
  using span = detail::otel_span;
  using open_spans = detail::otel_open_spans;

  opentelemetry_wait(std::shared_ptr<open_spans> in, std::string_view name, span s) : in_(std::move(in)), span_(s) {
    const std::lock_guard lock{in_->mutex};
    at_ = in_->all.emplace(std::string{name}, std::move(s));
  }
  template <class Words>
  void fail(Words words) noexcept {
    constexpr auto error = ::opentelemetry::trace::StatusCode::kError;
    if (!span_) return;
    try {
      span_->SetStatus(error, detail::otel_view(detail::to_utf8(words())));
    } catch (const std::exception&) {  // no memory
      span_->SetStatus(error);
    }
    finish("failed");
  }
  void finish(const char* outcome) noexcept {
    if (!span_) return;
    {
      const std::lock_guard lock{in_->mutex};
      in_->all.erase(at_);
    }
    span_->SetAttribute("tyer.outcome", outcome);
    span_->End();
    span_ = span{};
  }

  std::shared_ptr<open_spans> in_;
  std::multimap<std::string, span, std::less<>>::iterator at_;
  span span_;
};

// Spans around the waits of one client, which learn who holds the lock from the client's reports of slow waits: nothing is asked
// for them. `slow_wait` is how long a wait must be to have its holder named.
//
//   const tyer::opentelemetry_waits waits{provider->GetTracer("shop")};
//   tyer::client client{uri, {.on_event = waits.hook(), .slow_wait = 200ms}};
//   tyer::hold h = waits.around(order, [&] { return order.acquire(); });
//
// A name of a lock is in each span: what must not be in traces must not be in names. What is not UTF-8 is written \xNN.
//
// Thread safety: everything may be called from any thread. Lifetimes: the client and the spans may outlive it. A copy is the same.
class opentelemetry_waits {
 public:
  explicit opentelemetry_waits(::opentelemetry::nostd::shared_ptr<::opentelemetry::trace::Tracer> tracer)
      : tracer_(std::move(tracer)), open_(std::make_shared<detail::otel_open_spans>()) {}

  // For client_options::on_event of that client. All events go on to `also`, if there is one.
  [[nodiscard]] event_hook hook(event_hook also = {}) const {
    return [open = open_, also = std::move(also)](const event& e) {
      try {
        if (e.kind == event_kind::slow_wait) tell(*open, e);
      } catch (const std::bad_alloc&) {  // that report is in no span
      }
      if (also) also(e);
    };
  }

  // For a wait of any kind: co_await, a callback, several calls. It begins now.
  opentelemetry_wait begin(std::string_view name) const {
    ::opentelemetry::trace::StartSpanOptions options;
    options.kind = ::opentelemetry::trace::SpanKind::kClient;
    const auto shown = detail::to_utf8(name);
    auto begun = tracer_->StartSpan("tyer.acquire", {{"tyer.lock.name", detail::otel_view(shown)}}, options);
    return {open_, name, std::move(begun)};
  }

  // Calls `acquire` inside a span: it returns a hold, or something that is true if it has the lock, or nothing if it always has.
  template <std::invocable Acquire>
  std::invoke_result_t<Acquire> around(const acquirable& lock, Acquire&& acquire) const {
    auto wait = begin(lock.name());
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Acquire>>) {
        std::invoke(std::forward<Acquire>(acquire));
        wait.end(true);
      } else {
        auto got = std::invoke(std::forward<Acquire>(acquire));
        if constexpr (std::is_same_v<decltype(got), hold>)
          wait.end(got);
        else
          wait.end(static_cast<bool>(got));
        return got;
      }
    } catch (const std::exception& e) {
      wait.fail([&] { return e.what(); });
      throw;
    } catch (...) {
      wait.fail([] { return "an exception that is no std::exception"; });
      throw;
    }
  }

 private:
  using span = detail::otel_span;

  static void tell(detail::otel_open_spans& open, const event& e) {
    std::vector<span> waiting;
    {
      const std::lock_guard lock{open.mutex};
      const auto [begin, end] = open.all.equal_range(e.name);
      for (auto at = begin; at != end; ++at) waiting.push_back(at->second);
    }
    for (const span& s : waiting) {
      describe(*s, e);
      s->AddEvent("tyer.slow_wait", e.when, {{"tyer.text", detail::otel_view(e.text)}});
    }
  }

  static void describe(::opentelemetry::trace::Span& s, const event& e) {
    s.SetAttribute("tyer.lock.group", detail::otel_view(e.group));
    s.SetAttribute("tyer.waiters", static_cast<std::int64_t>(e.waiters));
    if (!e.words.empty()) return;  // the engine did not say who holds it
    s.SetAttribute("tyer.holders", static_cast<std::int64_t>(e.holders.size()));
    if (e.holders.empty()) return;
    const lock_owner& who = e.holders.front().owner;
    const auto put = [&s](const char* key, const std::string& value) {
      if (!value.empty()) s.SetAttribute(key, detail::otel_view(detail::to_utf8(value)));
    };
    put("tyer.holder", who.host.empty() ? who.text : who.host + " pid " + std::to_string(who.pid) + ' ' + who.label);
    put("tyer.holder.host", who.host);
    put("tyer.holder.label", who.label);
    put("tyer.holder.site", who.site);
    if (!who.host.empty()) s.SetAttribute("tyer.holder.pid", static_cast<std::int64_t>(who.pid));
    if (who.since) put("tyer.holder.since", utc(*who.since));
  }

  // "2026-01-02T03:04:05.678Z"
  static std::string utc(std::chrono::system_clock::time_point t) {
    const auto ms = std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
    const auto whole = static_cast<std::time_t>((ms >= 0 ? ms : ms - 999) / 1000);
    std::tm parts{};
    std::array<char, 40> text{};
    if (::gmtime_r(&whole, &parts) == nullptr) return {};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    std::snprintf(text.data() + size, text.size() - size, ".%03dZ", static_cast<int>(ms - whole * 1000));
    return text.data();
  }

  ::opentelemetry::nostd::shared_ptr<::opentelemetry::trace::Tracer> tracer_;
  std::shared_ptr<detail::otel_open_spans> open_;
};

}  // namespace v1
}  // namespace tyer
