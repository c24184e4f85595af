// A move-only std::function with room for the captures of a reply, so that a request allocates nothing for it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace tyer::core {

template <class Signature, std::size_t Room = 48>
class function;

template <class R, class... A, std::size_t Room>
class function<R(A...), Room> {
 public:
  function() noexcept = default;
  function(std::nullptr_t) noexcept {}

  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, function> && std::is_invocable_r_v<R, std::decay_t<F>&, A...>)
  function(F&& f) {
    using T = std::decay_t<F>;
    if constexpr (sizeof(T) <= Room && alignof(T) <= alignof(std::max_align_t) &&
                  std::is_nothrow_move_constructible_v<T>) {
      ::new (room_) T(std::forward<F>(f));
      verbs_ = &inside<T>;
    } else {
      ::new (room_) std::unique_ptr<T>(std::make_unique<T>(std::forward<F>(f)));
      verbs_ = &outside<T>;
    }
  }

  function(function&& other) noexcept : verbs_(std::exchange(other.verbs_, nullptr)) {
    if (verbs_ != nullptr) verbs_->move(room_, other.room_);
  }
  function& operator=(function&& other) noexcept {
    if (this != &other) {
      reset();
      verbs_ = std::exchange(other.verbs_, nullptr);
      if (verbs_ != nullptr) verbs_->move(room_, other.room_);
    }
    return *this;
  }
  function(const function&) = delete;
  function& operator=(const function&) = delete;
  ~function() { reset(); }

  explicit operator bool() const noexcept { return verbs_ != nullptr; }
  R operator()(A... args) { return verbs_->call(room_, std::forward<A>(args)...); }

 private:
  struct verbs {
    R (*call)(void*, A&&...);
    void (*move)(void* to, void* from) noexcept;  // leaves nothing at `from`
    void (*destroy)(void*) noexcept;
  };

  template <class T>
  static constexpr verbs inside{
      [](void* room, A&&... args) -> R { return (*std::launder(static_cast<T*>(room)))(std::forward<A>(args)...); },
      [](void* to, void* from) noexcept {
        T* source = std::launder(static_cast<T*>(from));
        ::new (to) T(std::move(*source));
        source->~T();
      },
      [](void* room) noexcept { std::launder(static_cast<T*>(room))->~T(); }};

  template <class T>
  static constexpr verbs outside{
      [](void* room, A&&... args) -> R {
        return (**std::launder(static_cast<std::unique_ptr<T>*>(room)))(std::forward<A>(args)...);
      },
      [](void* to, void* from) noexcept {
        auto* source = std::launder(static_cast<std::unique_ptr<T>*>(from));
        ::new (to) std::unique_ptr<T>(std::move(*source));
        std::destroy_at(source);
      },
      [](void* room) noexcept { std::destroy_at(std::launder(static_cast<std::unique_ptr<T>*>(room))); }};

  void reset() noexcept {
    if (verbs_ != nullptr) std::exchange(verbs_, nullptr)->destroy(room_);
  }

  const verbs* verbs_ = nullptr;
  alignas(std::max_align_t) std::byte room_[Room];
};

}  // namespace tyer::core
