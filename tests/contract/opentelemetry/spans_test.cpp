// Spans around waits: what the real SDK of OpenTelemetry was told when they ended.
#include "contract/opentelemetry/names.hpp"

#include <tyer/opentelemetry.hpp>
#include <tyer/tyer.hpp>

#include <gtest/gtest.h>
#include <opentelemetry/exporters/memory/in_memory_span_exporter_factory.h>
#include <opentelemetry/sdk/trace/simple_processor_factory.h>
#include <opentelemetry/sdk/trace/tracer_provider.h>
#include <opentelemetry/trace/scope.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace contract {
namespace otel_spans {
namespace {

using namespace std::chrono_literals;
namespace memory = opentelemetry::exporter::memory;
namespace nostd = opentelemetry::nostd;
namespace sdk = opentelemetry::sdk::trace;
using opentelemetry::trace::StatusCode;
using span = std::unique_ptr<sdk::SpanData>;

bool eventually(const std::function<bool()>& happened) {
  const auto limit = std::chrono::steady_clock::now() + 20s;
  while (!happened()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

class opentelemetry_waits : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(client.wait_ready(20s) && other.wait_ready(20s)); }

  std::unique_ptr<sdk::TracerProvider> provider_to(std::shared_ptr<memory::InMemorySpanData>& spans) {
    auto exporter = memory::InMemorySpanExporterFactory::Create(spans);
    return std::make_unique<sdk::TracerProvider>(sdk::SimpleSpanProcessorFactory::Create(std::move(exporter)));
  }

  span the_only_one() {
    auto all = data->GetSpans();
    if (all.size() != 1) throw std::runtime_error(std::to_string(all.size()) + " spans have ended");
    return std::move(all.front());
  }
  static std::string text(const sdk::SpanData& s, const std::string& key) {
    const auto at = s.GetAttributes().find(key);
    return at == s.GetAttributes().end() ? "none" : nostd::get<std::string>(at->second);
  }
  static std::int64_t number(const sdk::SpanData& s, const std::string& key) {
    const auto at = s.GetAttributes().find(key);
    return at == s.GetAttributes().end() ? -1 : nostd::get<std::int64_t>(at->second);
  }

  std::shared_ptr<memory::InMemorySpanData> data;
  std::unique_ptr<sdk::TracerProvider> provider = provider_to(data);
  nostd::shared_ptr<opentelemetry::trace::Tracer> tracer = provider->GetTracer("shop");
  const tyer::opentelemetry_waits waits{tracer};
  std::atomic<int> reported = 0;
  tyer::client client{
      otel_uri(),
      {.on_event = waits.hook([this](const tyer::event& e) { reported += e.kind == tyer::event_kind::slow_wait; }),
       .slow_wait = 50ms}};
  tyer::client other{otel_uri(), {.label = "night-report"}};
  const std::string name = otel_name();
  const tyer::mutex order{client, name, {.ttl = 60s, .group = "orders"}};
};

TEST_F(opentelemetry_waits, of_a_lock_that_is_free) {
  const tyer::hold h = waits.around(order, [&] { return order.acquire(); });
  const auto s = the_only_one();
  EXPECT_EQ(s->GetName(), "tyer.acquire");
  EXPECT_EQ(s->GetSpanKind(), opentelemetry::trace::SpanKind::kClient);
  EXPECT_EQ(text(*s, "tyer.lock.name"), name);
  EXPECT_EQ(text(*s, "tyer.outcome"), "acquired");
  EXPECT_EQ(number(*s, "tyer.lock.token"), static_cast<std::int64_t>(h.token()));
  EXPECT_EQ(text(*s, "tyer.holder"), "none");
  EXPECT_EQ(s->GetStatus(), StatusCode::kUnset);
}

TEST_F(opentelemetry_waits, say_who_had_the_lock_and_since_when) {
  tyer::hold theirs = tyer::mutex{other, name, {.ttl = 60s}}.acquire();
  const auto request = tracer->StartSpan("request");
  auto mine = std::async(std::launch::async, [&] {
    const opentelemetry::trace::Scope active{request};
    return waits.around(order, [&] { return order.acquire(); });
  });
  ASSERT_TRUE(eventually([&] { return reported > 0; }));
  EXPECT_TRUE(data->GetSpans().empty()) << "it still waits";
  theirs.release();
  const tyer::hold h = mine.get();

  const auto s = the_only_one();
  EXPECT_EQ(text(*s, "tyer.outcome"), "acquired");
  EXPECT_EQ(s->GetParentSpanId(), request->GetContext().span_id());
  EXPECT_GE(s->GetDuration(), 50ms);
  std::string host(256, '\0');
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  host.resize(host.find('\0'));
  EXPECT_EQ(text(*s, "tyer.holder"), host + " pid " + std::to_string(::getpid()) + " night-report");
  EXPECT_EQ(text(*s, "tyer.holder.host"), host);
  EXPECT_EQ(number(*s, "tyer.holder.pid"), ::getpid());
  EXPECT_EQ(text(*s, "tyer.holder.label"), "night-report");
  EXPECT_TRUE(text(*s, "tyer.holder.site").starts_with("spans_test.cpp:")) << text(*s, "tyer.holder.site");
  EXPECT_EQ(text(*s, "tyer.holder.since").size(), std::string_view{"2026-01-02T03:04:05.678Z"}.size());
  EXPECT_EQ(number(*s, "tyer.holders"), 1);
  EXPECT_EQ(number(*s, "tyer.waiters"), 1);
  EXPECT_EQ(text(*s, "tyer.lock.group"), "orders");
  ASSERT_GE(s->GetEvents().size(), 1U);
  EXPECT_EQ(s->GetEvents().front().GetName(), "tyer.slow_wait");
  const auto told = nostd::get<std::string>(s->GetEvents().front().GetAttributes().at("tyer.text"));
  EXPECT_NE(told.find("night-report"), told.npos) << told;
}

TEST_F(opentelemetry_waits, of_other_locks_hear_nothing_of_it) {
  const tyer::hold theirs = tyer::mutex{other, name, {.ttl = 60s}}.acquire();
  auto mine = waits.begin(name + "/other");
  const tyer::hold none = waits.around(order, [&] { return order.try_acquire_for(1s); });
  EXPECT_FALSE(none);
  ASSERT_TRUE(eventually([&] { return reported > 0; }));
  mine.end(true);
  const auto all = data->GetSpans();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(text(*all[0], "tyer.outcome"), "not_acquired");
  EXPECT_EQ(all[0]->GetStatus(), StatusCode::kUnset) << "that others have it is no error";
  EXPECT_EQ(text(*all[1], "tyer.holder"), "none");
}

TEST_F(opentelemetry_waits, that_fail_are_errors) {
  const tyer::hold theirs = tyer::mutex{other, name, {.ttl = 60s}}.acquire();
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(static_cast<void>(waits.around(order, [&] { return order.acquire(stop.get_token()); })), tyer::error);
  const auto s = the_only_one();
  EXPECT_EQ(text(*s, "tyer.outcome"), "failed");
  EXPECT_EQ(s->GetStatus(), StatusCode::kError);
  EXPECT_FALSE(s->GetDescription().empty());
}

// A collector refuses what is not UTF-8, with all that is sent beside it.
TEST_F(opentelemetry_waits, that_fail_with_words_that_are_no_text) {
  const auto said = [&] {
    const auto s = the_only_one();
    return std::string{s->GetDescription().data(), s->GetDescription().size()};
  };
  EXPECT_THROW(waits.around(order, [] { throw std::runtime_error("no \xff"); }), std::runtime_error);
  EXPECT_EQ(said(), "no \\xff");
  waits.begin(name).end(tyer::failure{tyer::errc::refused, "not \xc3"});
  EXPECT_TRUE(said().ends_with("not \\xc3"));
}

TEST_F(opentelemetry_waits, that_ended_with_an_exception_of_any_type_were_called_abandoned) {
  EXPECT_THROW(waits.around(order, [] { throw 42; }), int);
  const auto s = the_only_one();
  EXPECT_EQ(text(*s, "tyer.outcome"), "failed");
  EXPECT_EQ(s->GetStatus(), StatusCode::kError);
}

TEST_F(opentelemetry_waits, by_hand_end_once_and_are_abandoned_if_nobody_ends_them) {
  {
    auto wait = waits.begin(name);
    tyer::failure why;
    const tyer::hold h = order.acquire(why);
    wait.end(h);
    wait.end(why);  // too late: nothing happens
  }
  EXPECT_EQ(text(*the_only_one(), "tyer.outcome"), "acquired");
  {
    auto first = waits.begin(name);
    const auto second = std::move(first);
  }
  EXPECT_EQ(text(*the_only_one(), "tyer.outcome"), "abandoned");
  waits.begin(name).end(tyer::failure{tyer::errc::unavailable, "gone fishing"});
  const auto s = the_only_one();
  EXPECT_EQ(s->GetStatus(), StatusCode::kError);
  EXPECT_NE(std::string_view(s->GetDescription().data(), s->GetDescription().size()).find("gone fishing"),
            std::string_view::npos);
}

TEST_F(opentelemetry_waits, of_std_guards_and_of_names_that_are_no_text) {
  tyer::mutex odd{client, name + "/\xff\xc3\xa9"};
  waits.around(odd, [&] { odd.lock(); });
  odd.unlock();
  const auto s = the_only_one();
  EXPECT_EQ(text(*s, "tyer.lock.name"), name + "/\\xff\xc3\xa9");
  EXPECT_EQ(text(*s, "tyer.outcome"), "acquired");
}

}  // namespace
}  // namespace otel_spans
}  // namespace contract
