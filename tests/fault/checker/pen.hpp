// Writes histories by hand, for the tests of the checks.
#pragma once

#include "checker/checks.hpp"

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

namespace fault {

inline const limits usual;

// In milliseconds: one file for each process, one for the resource, one for the faults, one for the proxy.
class pen {
 public:
  pen& attempt(std::uint32_t pid, std::int64_t t, std::uint16_t name = 0, std::uint16_t worker = 0) {
    return line(pid, {.t_ns = t * ms, .pid = pid, .worker = worker, .name = name, .what = op::attempt});
  }
  pen& granted(std::uint32_t pid, std::int64_t t, std::uint64_t token, std::int64_t until, std::uint16_t name = 0,
               std::uint16_t worker = 0) {
    return line(pid, {.t_ns = t * ms,
                      .deadline_ns = until * ms,
                      .token = token,
                      .hold = token,
                      .pid = pid,
                      .worker = worker,
                      .name = name,
                      .what = op::granted});
  }
  // With a hold whose number is not its token.
  pen& granted_as(std::uint32_t pid, std::int64_t t, std::uint64_t token, std::uint64_t hold, std::int64_t until) {
    return line(
        pid,
        {.t_ns = t * ms, .deadline_ns = until * ms, .token = token, .hold = hold, .pid = pid, .what = op::granted});
  }
  pen& missed(std::uint32_t pid, std::int64_t t, miss how, std::uint16_t worker = 0) {
    return line(pid, {.t_ns = t * ms,
                      .pid = pid,
                      .worker = worker,
                      .what = op::not_granted,
                      .outcome = static_cast<std::uint8_t>(how)});
  }
  pen& look(op what, std::uint32_t pid, std::int64_t t, std::uint64_t hold, std::int64_t until, std::uint8_t seen) {
    return line(pid,
                {.t_ns = t * ms, .deadline_ns = until * ms, .hold = hold, .pid = pid, .what = what, .outcome = seen});
  }
  pen& release(std::uint32_t pid, std::int64_t t, std::uint64_t hold, std::int64_t until) {
    return look(op::release, pid, t, hold, until, seen_valid);
  }
  // A whole hold whose number is its token.
  pen& hold(std::uint32_t pid, std::int64_t invoked, std::int64_t returned, std::int64_t end, std::uint64_t token,
            std::uint16_t name = 0) {
    return attempt(pid, invoked, name)
        .granted(pid, returned, token, returned + 950, name)
        .release(pid, end, token, end + 900);
  }
  // The same with a mode. Slots: one bit for each; a permit wants as many as it has.
  pen& hold(std::uint32_t pid, std::int64_t invoked, std::int64_t returned, std::int64_t end, std::uint64_t token,
            mode how, std::uint16_t slots = 0, std::uint8_t capacity = 3) {
    const auto permits = static_cast<std::uint8_t>(std::popcount(slots));
    return line(pid, {.t_ns = invoked * ms, .pid = pid, .what = op::attempt, .how = how, .permits = permits})
        .line(pid, {.t_ns = returned * ms,
                    .deadline_ns = (returned + 950) * ms,
                    .token = token,
                    .hold = token,
                    .pid = pid,
                    .what = op::granted,
                    .how = how,
                    .permits = permits,
                    .capacity = capacity,
                    .slots = slots})
        .release(pid, end, token, end + 900);
  }
  // The hold `from` becomes the hold `token`.
  pen& convert(std::uint32_t pid, std::int64_t invoked, std::uint64_t from, mode how) {
    return line(
        pid, {.t_ns = invoked * ms, .hold = from, .pid = pid, .what = op::attempt, .how = how, .flags = is_conversion});
  }
  pen& converted(std::uint32_t pid, std::int64_t returned, std::uint64_t token, std::int64_t until, mode how) {
    return line(pid, {.t_ns = returned * ms,
                      .deadline_ns = until * ms,
                      .token = token,
                      .hold = token,
                      .pid = pid,
                      .what = op::granted,
                      .how = how});
  }
  pen& use(std::uint64_t token, std::uint64_t hold, verdict answer, mode how, std::uint16_t slots = 0) {
    return line(1, {.token = token,
                    .hold = hold,
                    .what = op::write,
                    .outcome = static_cast<std::uint8_t>(answer),
                    .how = how,
                    .slots = slots});
  }
  // The engine's queue as the proxy sees it.
  pen& asked(std::uint64_t ticket, std::int64_t t, mode how = mode::exclusive) {
    return line(3, {.t_ns = t * ms, .hold = ticket, .what = op::asked, .how = how});
  }
  pen& given_up(std::uint64_t ticket, std::int64_t t) {
    return line(3, {.t_ns = t * ms, .hold = ticket, .what = op::given_up});
  }
  pen& waits(std::uint64_t ticket, std::int64_t arrived, std::int64_t read, std::int64_t place = 500) {
    return said(ticket, arrived, read, standing::waiting, static_cast<std::uint64_t>(place * ms));
  }
  pen& serves(std::uint64_t ticket, std::int64_t arrived, std::int64_t read, std::uint64_t part) {
    return said(ticket, arrived, read, standing::granted, part);
  }
  pen& gone(std::uint64_t ticket, std::int64_t arrived, std::int64_t read) {
    return said(ticket, arrived, read, standing::gone, 0);
  }
  pen& write(std::uint64_t token, std::uint64_t hold, verdict answer, std::uint16_t name = 0) {
    return line(
        1,
        {.token = token, .hold = hold, .name = name, .what = op::write, .outcome = static_cast<std::uint8_t>(answer)});
  }
  pen& done(op what, std::int64_t t, std::uint32_t pid = 0, std::int64_t until = 0) {
    return line(2, {.t_ns = t * ms, .deadline_ns = until * ms, .pid = pid, .what = what});
  }

  // Nothing of the new state was there before `t`, nothing of the old one was made after `until`.
  pen& lost(std::int64_t t, std::int64_t until, std::uint8_t how, std::uint64_t names = 0) {
    return line(2, {.t_ns = t * ms, .deadline_ns = until * ms, .token = names, .what = op::data_loss, .outcome = how});
  }
  pen& failed_over(std::int64_t t, std::uint64_t names = 0) {
    return line(2, {.t_ns = t * ms, .token = names, .what = op::failover});
  }
  // A request could be without its answer.
  pen& hindered(std::int64_t t, std::int64_t until, std::uint64_t names = 0, std::uint32_t pid = 0,
                bool for_life = false) {
    return line(2, {.t_ns = t * ms,
                    .deadline_ns = until * ms,
                    .token = names,
                    .hold = pid,
                    .what = op::hindered,
                    .outcome = for_life});
  }
  pen& away(std::int64_t t, std::int64_t until, std::uint64_t names = 0) {
    return line(2, {.t_ns = t * ms, .token = names, .what = op::away_begin}).done(op::away_end, until);
  }
  // Its pulse was due at `from`.
  pen& starved(std::uint32_t pid, std::int64_t from, std::int64_t to) {
    return line(pid, {.t_ns = to * ms, .deadline_ns = from * ms, .pid = pid, .what = op::starved});
  }

  story told() const {
    std::vector<std::vector<event>> all;
    for (const auto& [pid, lines] : files_) all.push_back(lines);
    return tell(all);
  }

 private:
  pen& said(std::uint64_t ticket, std::int64_t arrived, std::int64_t read, standing what, std::uint64_t value) {
    return line(3, {.t_ns = read * ms,
                    .deadline_ns = arrived * ms,
                    .token = value,
                    .hold = ticket,
                    .what = op::answered,
                    .outcome = static_cast<std::uint8_t>(what)});
  }
  pen& line(std::uint32_t file, const event& e) {
    files_[file].push_back(e);
    return *this;
  }
  static constexpr std::int64_t ms = 1'000'000;
  std::map<std::uint32_t, std::vector<event>> files_;
};

}  // namespace fault
