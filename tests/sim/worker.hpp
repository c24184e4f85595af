// A caller inside a client: wants a lock, waits or gives up, writes, gives back, rests, and so on.
//
// Half of the callers never look at valid() before they write, and keep what they have lost: those are what fencing is for.
#pragma once

#include "runtime/wish.hpp"
#include "sim/dice.hpp"
#include "sim/scenario.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace tyer::sim {

class process;

class worker {
 public:
  void start(process& p, std::size_t number, dice d);

  // Its process is no more.
  void die();
  // The hold was taken from it: by proof, or because its time is over.
  void on_lost(const runtime::hold_ptr& h, bool by_proof);

  bool waits_for(std::size_t name) const noexcept { return wish_ != nullptr && wish_->waits && name == name_; }
  bool idle() const noexcept { return !wish_ && !hold_ && !releasing_; }
  void look() const;  // does it wait for longer than it said?

 private:
  void rest();
  void want();
  void on_answer(tyer::failure f, runtime::hold_ptr h);
  void write();
  void give_back();
  void close_window(moment at_most);

  process* home_ = nullptr;
  std::size_t number_ = 0;
  dice dice_{0};
  bool careful_ = false;

  std::size_t name_ = 0;
  std::uint64_t turn_ = 0;   // counts wishes, so that what was planned for an old one is not done to the next
  std::uint64_t floor_ = 0;  // of the token, when the wish was made
  std::shared_ptr<runtime::wish> wish_;
  runtime::hold_ptr hold_;
  std::size_t window_ = 0;
  int writes_left_ = 0;
  bool releasing_ = false;
};

}  // namespace tyer::sim
