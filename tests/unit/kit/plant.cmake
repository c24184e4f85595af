# Bugs inside the resource, which its judge must find. The sources are copied with all of them in; kit_planted_test chooses one at
# run time, for which PLANTED is true. What is to be changed must be in the source once, so the list cannot outlive the code.
set(planted 0)
set(planted_words "")
foreach(file resource resource_turns)
  file(READ ${PROJECT_SOURCE_DIR}/src/engines/kit/${file}.cpp planted_${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/engines/kit/${file}.cpp)
endforeach()

macro(plant words file right wrong)
  string(FIND "${planted_${file}}" "${right}" first)
  string(FIND "${planted_${file}}" "${right}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "'${words}' cannot be planted: this must be in ${file}.cpp once: ${right}")
  endif()
  math(EXPR planted "${planted} + 1")
  string(REPLACE PLANTED "tyer::kit::has_bug(${planted})" changed "${wrong}")
  string(REPLACE "${right}" "${changed}" planted_${file} "${planted_${file}}")
  string(APPEND planted_words "\"${words}\",\n")
endmacro()

plant("a reader beside a writer" resource_turns "if (h.how != d.how)" "if (h.how != d.how && !PLANTED)")
plant("one permit too many" resource_turns "if (holds_.empty()) return true;"
      "if (holds_.empty()) return true; if (PLANTED && d.how == mode::permit && holds_.front().how == d.how) return true;")
plant("a try overtakes the queue" resource_turns "return waiting() == 0 &&" "return (PLANTED || waiting() == 0) &&")
plant("a reader overtakes an upgrade" resource_turns "std::ranges::none_of(holds_, &seat::upgrading);"
      "(PLANTED || std::ranges::none_of(holds_, &seat::upgrading));")
plant("a hold outlives its end" resource_turns "h.expires > now) continue;"
      "h.expires + milliseconds{PLANTED ? 1 : 0} > now) continue;")
plant("a lock delay is not waited for" resource_turns "return s.claimed() ? s.expires + s.lock_delay"
      "return s.claimed() && !PLANTED ? s.expires + s.lock_delay")
plant("a dead head is not reaped" resource_turns "changes_ += drop(queue_, over);"
      "changes_ += PLANTED ? 0 : drop(queue_, over);")
plant("a clean release does not lay the ghost" resource "if (clean) lay_ghost(who);" "if (clean && !PLANTED) lay_ghost(who);")
plant("what was evicted leaves no ghost" resource_turns "haunt(*h);" "haunt(*h); if (PLANTED) lay_ghost(who);")
plant("a stranger lays the ghost" resource_turns "return h.ghost() && h.who == who; });"
      "return h.ghost() && (PLANTED || h.who == who); });")
plant("equal tokens" resource_turns "std::max(above + 1, micros(now))" "std::max(above + (PLANTED ? 0 : 1), micros(now))")
plant("what the client has seen is forgotten" resource_turns "std::max(last_part_, seen)"
      "std::max(last_part_, PLANTED ? 0 : seen)")
plant("a slot is given twice" resource_turns "if (!taken[slot]) slots" "if (PLANTED || !taken[slot]) slots")
plant("an upgrade beside a reader" resource_turns "if (holds_.size() > 1) return;" "if (holds_.size() > 1 && !PLANTED) return;")
plant("a hand-over of a full ttl" resource_turns "s.expires = now + s.waiter_ttl;"
      "s.expires = now + (PLANTED ? s.ttl : s.waiter_ttl);")
plant("a hand-over that needs no claim" resource_turns "s.is = seat::state::handed_over;"
      "s.is = PLANTED ? seat::state::holding : seat::state::handed_over;")
plant("nobody is woken" resource_turns "out.push_back({s.who, notice::kind::wake, {}});"
      "if (!PLANTED) out.push_back({s.who, notice::kind::wake, {}});")
plant("an upgrade keeps its token" resource_turns "stamp(h, 0, now);" "if (!PLANTED) stamp(h, 0, now);")
plant("a downgrade keeps its token" resource "stamp(*h, 0, now);" "if (!PLANTED) stamp(*h, 0, now);")
plant("a downgrade wakes nobody" resource "turn(now, out);  // last" "if (!PLANTED) turn(now, out);  // last")
plant("the second upgrade waits too" resource "other != nullptr && other != h" "!PLANTED && other != nullptr && other != h")
plant("a renewal shortens" resource "if (until <= s.expires) return;" "if (!PLANTED && until <= s.expires) return;")
plant("a renewal claims" resource "if (!h->claimed()) return fate::waiting;" "if (!PLANTED && !h->claimed()) return fate::waiting;")
plant("a hand-over is renewed as a place" resource "if (as == fate::waiting) return fate::holding;"
      "if (as == fate::waiting && !PLANTED) return fate::holding;")
plant("a claim that is not remembered" resource "s.is = seat::state::holding;" "if (!PLANTED) s.is = seat::state::holding;")
plant("a waiter is not kept by asking again" resource "extend(s, now + r.waiter_ttl);" "if (!PLANTED) extend(s, now + r.waiter_ttl);")
plant("a lifted token may fall" resource "part < h->part ||" "(part < h->part && !PLANTED) ||")
plant("a waiter comes back in another mode" resource "if (s.how != r.what.how || s.take" "if ((s.how != r.what.how && !PLANTED) || s.take")
plant("whoever waits is told that it holds" resource "if (s.waits()) {" "if (s.waits() && !PLANTED) {")
# Marks: only found by whoever reads what was written.
plant("a claim is not written" resource "s.dirty |= !s.claimed();" "s.dirty |= !s.claimed() && !PLANTED;")
plant("an upgrade that waits is not written" resource "h->dirty |= !h->upgrading;" "h->dirty |= !h->upgrading && !PLANTED;")
plant("an upgrade taken back is not written" resource "h->dirty |= h->upgrading ||" "h->dirty |= (h->upgrading && !PLANTED) ||")
plant("an extended place is not written" resource "  s.expires = until;\n  s.dirty = true;" "  s.expires = until;\n  s.dirty |= !PLANTED;")
plant("a ghost is not written" resource_turns "  h.lease = 0;\n  h.dirty = true;" "  h.lease = 0;\n  h.dirty |= !PLANTED;")
plant("a grant is not written" resource_turns "  s.dirty = true;\n  floor_dirty_" "  s.dirty |= !PLANTED;\n  floor_dirty_")
plant("what has expired stays written" resource_turns "return !s.fresh && gone(s); }" "return !s.fresh && !PLANTED && gone(s); }")
plant("a cancelled place stays written" resource_turns "if (limits_.stored && !queue_[*place].fresh)"
      "if (!PLANTED && limits_.stored && !queue_[*place].fresh)")
plant("turns that are left are not told" resource_turns "      turns_left_ = true;" "      turns_left_ = !PLANTED;")
plant("nobody reads who may have its turn" resource_turns "(granted_ > 0 ? turns_left_ : needs_all_) = true;"
      "(granted_ > 0 ? turns_left_ : needs_all_) = !PLANTED;")
plant("the unread are taken for gone" resource_turns "  needs_all_ |= !knows_all();\n  return fate::gone;" "  needs_all_ |= !knows_all() && !PLANTED;\n  return fate::gone;")

foreach(file resource resource_turns)
  string(PREPEND planted_${file} "#include \"unit/kit/planted.hpp\"\n")
  file(CONFIGURE OUTPUT planted/${file}.cpp CONTENT "${planted_${file}}" @ONLY)
endforeach()
file(CONFIGURE OUTPUT planted/words.inc CONTENT "${planted_words}" @ONLY)
