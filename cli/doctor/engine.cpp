#include "doctor/examine.hpp"

namespace cli::doctor {

namespace {

std::string what_it_can(const tyer::abilities& a) {
  std::string text;
  const auto add = [&](bool able, const char* word) {
    if (able) text += (text.empty() ? "" : ", ") + std::string{word};
  };
  add(a.queue, "first come first served");
  add(a.tokens, "fencing tokens");
  add(a.shared, "shared locks");
  add(a.permits, "semaphores");
  add(a.push, "push");
  return text;
}

}  // namespace

bool report::has_errors() const noexcept {
  for (const auto& c : checks) {
    if (!c.fine && c.level == tyer::severity::error) return true;
  }
  return false;
}

void look_at_engine(session& s, report& r) {
  const auto admin = s.admin();
  const auto can = admin.can();
  r.fine("it can: " + what_it_can(can));
  if (!can.tokens) {
    r.found(tyer::severity::warning, "there are no fencing tokens in this mode",
            "only the lease protects your writes; keep the ttl well above any pause of your programs");
  }
  tyer::failure why;
  const auto findings = admin.diagnose(why);
  if (why) {
    r.found(tyer::severity::advice, "the engine's settings cannot be read: " + why.words,
            "allow this login to read them (INFO for Redis), or check eviction, persistence and replicas by hand");
    return;
  }
  for (const auto& f : findings) r.found(f.level, f.what, f.advice);
  if (findings.empty()) r.fine("the engine finds nothing wrong with its version and its settings");
}

}  // namespace cli::doctor
