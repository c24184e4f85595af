// The strongest fence is the shortest to write, and every gate takes it.
#include <tyer/tyer.hpp>

#include <array>
#include <string>

bool shown(const tyer::hold& h, tyer::fence_gate& gate, tyer::slot_gates& slots, tyer::fence_marks& stored) {
  const tyer::sql_fence row{"fence", "fence_by"};
  const tyer::sql_shared_fence rows{"max_exclusive", "max_any", "exclusive_by"};
  const std::string text = row.set(h.fence()) + row.where(h.fence()) + rows.set(h.fence()) + rows.where(h.fence());
  const std::array<std::string, 3> argv = tyer::redis_fence_arguments(h.fence());
  const tyer::etcd::comparison held = tyer::etcd::guard_txn(h);
  return gate.enter(h.fence()) && slots.enter(h.slot_numbers(), h.fence()) && stored.enter(h.fence()) &&
         !text.empty() && !argv[0].empty() && !held.key.empty();
}

// A statement that is prepared once.
std::string prepared(unsigned token, unsigned id) {
  const tyer::sql_fence row{"fence", "fence_by"};
  const tyer::sql_shared_fence rows{"max_exclusive", "max_any", "exclusive_by"};
  std::string text;
  for (const auto mode : {tyer::lock_mode::exclusive, tyer::lock_mode::shared}) {
    for (const auto& p : {tyer::sql_pass::mysql(mode), tyer::sql_pass::postgresql(token, id, mode),
                          tyer::sql_pass::sqlite(token, id, mode)}) {
      text += row.set(p) + row.where(p) + rows.set(p) + rows.where(p);
    }
  }
  return text + tyer::sql_pass::postgresql(1, 2).token + tyer::sql_pass::sqlite(1, 2).id;
}

bool one_of_several(const tyer::multi_hold& all, tyer::fence_gate& gate) { return gate.enter(all.fence("a")); }

// Through another process.
bool sent(tyer::fence_gate& gate, std::uint64_t token, const std::string& id, tyer::lock_mode mode) {
  return gate.enter({token, tyer::hold_id::from(id), mode}) ||
         gate.enter({.token = token, .id = tyer::hold_id::from(id)});
}

bool of_mode(const tyer::hold& h) { return h.mode() == tyer::lock_mode::shared; }

// Has to be asked for by its name.
bool weaker(tyer::fence_gate& gate, const tyer::hold& h) { return gate.enter_by_token(h.token(), h.mode()); }

tyer::client_options with(tyer::completion_executor loop) { return {.completions = std::move(loop)}; }

void asked(const tyer::hold& h, tyer::failure& why) {
  if (h.confirm() && h.confirm(why)) return;
}
