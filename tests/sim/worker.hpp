// A caller inside a client: wants a lock, waits or gives up, writes, changes its mode, gives back, rests, and so on.
//
// Half of the callers never look at valid() before they write, and keep what they have lost: those are what fencing is for.
#pragma once

#include "runtime/acquisition.hpp"
#include "sim/checker.hpp"
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
  // Somebody else wants it.
  void on_asked(const runtime::hold_ptr& h);
  // A planted bug: gets another one's hold instead of its own.
  bool takes_over(const runtime::hold_ptr& h);

  bool waits_for(std::size_t name) const noexcept {
    return acquisition_ != nullptr && acquisition_->waits && name == name_;
  }
  bool upgrades(std::size_t name) const noexcept;
  bool only_reads(const id& who, moment since) const noexcept;
  bool idle() const noexcept { return !acquisition_ && !hold_ && !releasing_ && !change_; }
  void look() const;  // does it wait for longer than it said?

 private:
  void rest();
  void want();
  std::shared_ptr<const runtime::spec> choose();
  void on_answer(tyer::failure f, runtime::hold_ptr h);
  void plan(duration held);
  void write();
  void convert();
  void on_converted(mode to, tyer::failure f, bool changed);
  void give_back_soon(duration d);
  void give_back();
  void close_window(moment at_most);
  void check_length() const;

  // Does something later, if it still is the same acquisition or hold then.
  template <class F>
  void later(duration d, F f);

  process* home_ = nullptr;
  std::size_t number_ = 0;
  dice dice_{0};
  bool careful_ = false;

  std::size_t name_ = 0, ttl_ = 0;
  std::uint64_t turn_ = 0;  // counts acquisitions, so that what was planned for an old one is not done to the next
  floors floor_;            // of the token, when the acquisition or the change was made
  std::shared_ptr<runtime::acquisition> acquisition_;
  runtime::hold_ptr hold_;
  moment since_;  // on the client's clock: when it was given
  bool over_ = false;
  std::size_t window_ = 0;
  std::shared_ptr<runtime::change> change_;
  moment changed_at_;      // when the last change ended
  bool due_back_ = false;  // to be given back when the change has its answer
  bool hasty_ = false;     // does not wait for that
  bool releasing_ = false;
};

}  // namespace tyer::sim
