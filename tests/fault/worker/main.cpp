// fault_worker --uri URI --history FILE --resource SOCKET [--ttl-ms N] [--request-timeout-ms N] [--workers N]
//              [--mix mutex|modes] [--names N] [--seed N] [--role busy|holder|waiter] [--kept-from N] [--kept N]
//
// One process with one client and some workers; a holder has one for each name it keeps and nothing else to do, a waiter
// one for each name that is kept by somebody, and one for the hot name. Runs until SIGTERM; then it finishes what was begun (waits without a
// limit are waited out: whoever started us decides how long) and exits with 0.
#include "common/socket.hpp"
#include "worker/diary.hpp"
#include "worker/pulse.hpp"
#include "worker/worker.hpp"

#include <tyer/admin.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

fault::settings parse(int argc, char** argv) {
  fault::settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string word = argv[i], value = argv[i + 1];
    const auto number = [&] { return std::stoull(value); };
    if (word == "--uri") {
      s.uri = value;
    } else if (word == "--history") {
      s.history = value;
    } else if (word == "--resource") {
      s.resource = value;
    } else if (word == "--ttl-ms") {
      s.ttl = std::chrono::milliseconds{number()};
    } else if (word == "--request-timeout-ms") {
      s.request_timeout = std::chrono::milliseconds{number()};
    } else if (word == "--workers") {
      s.workers = static_cast<std::uint32_t>(number());
    } else if (word == "--mix") {
      s.mix = value;
    } else if (word == "--names") {
      s.names = static_cast<std::uint32_t>(number());
    } else if (word == "--role") {
      s.role = value;
    } else if (word == "--kept-from") {
      s.kept_from = static_cast<std::uint32_t>(number());
    } else if (word == "--kept") {
      s.kept = static_cast<std::uint32_t>(number());
    } else if (word == "--seed") {
      s.seed = number();
    } else {
      throw std::runtime_error{"unknown option " + word};
    }
  }
  if (s.uri.empty() || s.history.empty() || s.resource.empty() || s.names < 2) {
    throw std::runtime_error{"--uri, --history and --resource are needed, and at least two names"};
  }
  return s;
}

std::vector<std::jthread> start(fault::process& shared) {
  const fault::settings& s = shared.chosen;
  std::vector<std::jthread> threads;
  const auto add = [&](auto what) {
    const auto number = static_cast<std::uint16_t>(threads.size());
    threads.emplace_back([&shared, number, what] {
      fault::worker w{shared, number};
      what(w);
    });
  };
  const auto for_each_kept = [&](auto what) {
    for (std::uint32_t n = 0; n < s.kept; ++n) {
      add([what, name = static_cast<std::uint16_t>(fault::kept_first + s.kept_from + n)](auto& w) { what(w, name); });
    }
  };
  if (s.role == "holder") {
    for_each_kept([](fault::worker& w, std::uint16_t name) { w.only_hold(name); });
  } else if (s.role == "waiter") {
    for_each_kept([](fault::worker& w, std::uint16_t name) { w.only_wait(name); });
    add([](fault::worker& w) { w.only_wait(0); });
  } else {
    for (std::uint32_t n = 0; n < s.workers; ++n) add([](fault::worker& w) { w.run(); });
  }
  return threads;
}

void run(const fault::settings& s, const sigset_t& end) {
  fault::history_writer history{s.history};
  const fault::pulse pulse{history};
  tyer::client client{s.uri,
                      {.request_timeout = s.request_timeout, .label = "fault_worker", .log = fault::diary(s.history)}};
  fault::plan names{s.mix, static_cast<std::uint16_t>(s.names)};
  const tyer::abilities can = tyer::admin{client}.can();
  if (!can.shared || !can.conversion) names.without(fault::primitive::shared);
  if (!can.permits) names.without(fault::primitive::semaphore);
  fault::canceller cancels;
  fault::process shared{s, names, history, cancels, client, {client, names, {.ttl = s.ttl}}};

  std::vector<std::jthread> threads = start(shared);
  int number = 0;
  ::sigwait(&end, &number);
  shared.draining = true;
  threads.clear();  // joins
  if (!client.close(std::chrono::seconds{2})) std::fputs("fault_worker: a release had no answer at the end\n", stderr);
}

}  // namespace

int main(int argc, char** argv) {
  fault::end_with_parent();
  // Blocked before any thread starts, so that only sigwait takes it.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &end, nullptr);
  try {
    run(parse(argc, argv), end);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fault_worker: %s\n", e.what());
    return 2;
  }
}
