#include "recipes/crowd.hpp"
#include "recipes/waiting.hpp"

#include <tyer/mutex.hpp>
#include <tyer/recipes/cached.hpp>
#include <tyer/shared_mutex.hpp>

#include <algorithm>
#include <utility>

namespace tyer {
inline namespace v1 {
namespace recipes {

using detail::time_limit;

namespace {

// One key: its locks, and the cache.
struct row {
  row(const client& owner, std::string_view cache_name, std::string_view of, store& where,
      const cached_options& options)
      : key(detail::lock_name(cache_name, of)),
        cache(where),
        limit(options.wait_at_most),
        lock(owner, key, options.lock),
        loading(owner, key + ":load", options.lock) {}

  hold acquired(const acquirable& a) const { return acquired(a, limit); }
  static hold acquired(const acquirable& a, const time_limit& until) {
    hold h = detail::acquire_within(a, until);
    if (!h) detail::timed_out(a.name(), until);
    return h;
  }

  std::optional<fresh> load_under(const hold& reader, const compute& load) const;
  bool changed_under(hold& writer, const cached::change& make) const;
  void erase_again() const;

  std::string key;
  store& cache;
  time_limit limit;
  shared_mutex lock;
  mutex loading;
};

// Nothing: a writer came after us, and what we loaded may be old.
std::optional<fresh> row::load_under(const hold& reader, const compute& load) const {
  const auto pass = reader.fence();
  entered e = cache.enter(key, pass);
  if (!e.let_in) return {};
  if (e.there) return fresh{std::move(e.there->value), e.there->left};
  const hold one = acquired(loading);
  if (auto there = cache.find(key)) return fresh{std::move(there->value), there->left};
  fresh made = load(reader);
  if (!cache.put(key, pass, made)) return {};
  return made;
}

// Whether nobody was let in beside this writer. The engine may have forgotten its lock, in a failover for one: then the hold
// is valid until its next renewal, and only the engine's answer tells.
bool was_alone(hold& writer) {
  failure why;
  return writer.valid() && writer.release(why) != release_outcome::already_gone;
}

// For a writer that lost its hold while it wrote: readers may have put the old value into the cache.
void row::erase_again() const try {
  const time_limit anew{limit.whole()};
  for (bool done = false; !done;) {
    const hold again = acquired(lock, anew);
    done = cache.erase(key, again.fence());
  }
} catch (const std::exception& e) {
  throw error(
      {errc::lost,
       core::quoted(key) + ": the hold was lost during the change, and the cache may have the old value: " + e.what()});
}

// False: a later writer was here before us, and nothing was done.
bool row::changed_under(hold& writer, const cached::change& make) const {
  if (!cache.erase(key, writer.fence())) return false;
  try {
    make(writer);
  } catch (...) {
    // The change may have been made all the same.
    if (!was_alone(writer)) {
      try {
        erase_again();
      } catch (const error&) {  // the exception of `make` is the one to report
      }
    }
    throw;
  }
  if (!was_alone(writer)) erase_again();
  return true;
}

}  // namespace

cached::cached(const client& owner, std::string_view name, std::shared_ptr<store> cache, cached_options options)
    : client_(tyer::detail::same_client(owner)),
      name_(name),
      cache_(std::move(cache)),
      options_(std::move(options)),
      readers_(std::make_shared<detail::crowd>()) {
  detail::require(cache_ != nullptr, "a cached needs a store");
  detail::require(options_.wait_at_most.count() > 0, "wait_at_most must be above 0");
}

std::string cached::read(std::string_view key, const compute& load) const {
  if (auto there = cache_->find(detail::lock_name(name_, key))) return std::move(there->value);
  const row r{*client_, name_, key, *cache_, options_};
  for (;;) {
    // A reader of this process that hangs is waited for no longer than other machines wait for it.
    if (auto turn = readers_->ask(r.key, std::min<lease_clock::duration>(r.limit.left(), options_.lock.ttl))) {
      const hold reader = r.acquired(r.lock.shared());
      if (auto got = r.load_under(reader, load)) {
        if (got->lives_for.count() > 0) turn->stored();
        return std::move(got->value);
      }
    } else if (auto there = cache_->find(r.key)) {
      return std::move(there->value);
    }
    if (r.limit.over()) detail::timed_out(r.key, r.limit);
  }
}

void cached::write(std::string_view key, const change& make) const {
  const row r{*client_, name_, key, *cache_, options_};
  for (;;) {
    hold writer = r.acquired(r.lock);
    if (r.changed_under(writer, make)) return;
    if (r.limit.over()) detail::timed_out(r.key, r.limit);
  }
}

}  // namespace recipes
}  // namespace v1
}  // namespace tyer
