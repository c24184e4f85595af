// An inbox whose reader waits for something else too, and must be called back from there.
#pragma once

#include "engine/inbox.hpp"

#include <utility>

namespace tyer::sql {

class ringing_box : public engine::inbox {
 public:
  void put(engine::delivery d) final {
    inbox::put(std::move(d));
    ring();
  }
  void wake() noexcept final {
    inbox::wake();
    ring();
  }

 private:
  virtual void ring() noexcept = 0;  // from any thread
};

}  // namespace tyer::sql
