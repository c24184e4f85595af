#include "engines/redis/connection/batch.hpp"

#include <boost/redis/resp3/type.hpp>

#include <algorithm>
#include <charconv>

namespace tyer::redis {

namespace resp3 = boost::redis::resp3;

namespace {

// A larger buffer is freed when the batch is reused.
constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;

}  // namespace

void batch::add(std::string_view command, std::span<const std::string_view> words, const script* via,
                reply_handler back) {
  const auto from = request.payload().size();
  // Reserve all memory first: half a command would corrupt the commands behind it.
  std::size_t room = 64 + command.size();
  for (const auto w : words) room += 32 + w.size();
  request.reserve(from + room);
  if (entries.size() == entries.capacity()) entries.reserve(std::max<std::size_t>(8, 2 * entries.size()));
  if (words.empty())
    request.push(command);  // push_range() would push nothing
  else
    request.push_range(command, words);
  auto& e = entries.emplace_back();
  e.back = std::move(back);
  e.via = via;
  e.from = static_cast<std::uint32_t>(from);
  e.size = static_cast<std::uint32_t>(request.payload().size() - from);
  ++unanswered;
  ++undelivered;
}

bool batch::take(std::size_t i, const resp3::node_view& node) {
  auto& e = entries[i];
  if (node.depth == 0) {
    awaited_ = 1;
    e.first_leaf = static_cast<std::uint32_t>(leaves_.size());
  }
  --awaited_;
  if (resp3::is_aggregate(node.data_type)) {
    awaited_ += node.aggregate_size * resp3::element_multiplicity(node.data_type);
  } else {
    leaves_.push_back({text_.size(), node.value.size()});
    text_ += node.value;
    ++e.leaves;
  }
  if (awaited_ != 0) return false;
  --unanswered;
  const bool error =
      node.depth == 0 && (node.data_type == resp3::type::simple_error || node.data_type == resp3::type::blob_error);
  if (e.now == state::waiting) e.now = error ? state::refused : state::answered;
  return true;
}

std::vector<std::string_view> batch::words(const entry& e) const {
  std::vector<std::string_view> words;
  auto text = request.payload().substr(e.from, e.size);
  text.remove_prefix(text.find('\n') + 1);  // *count
  while (!text.empty()) {
    std::size_t size = 0;
    std::from_chars(text.data() + 1, text.data() + text.size(), size);  // $size
    text.remove_prefix(text.find('\n') + 1);
    words.push_back(text.substr(0, size));
    text.remove_prefix(size + 2);
  }
  return words;
}

void batch::clear() {
  if (text_.capacity() > kept_bytes_max || request.payload().size() > kept_bytes_max) {
    *this = batch{};
    return;
  }
  request.clear();
  entries.clear();
  leaves_.clear();
  text_.clear();
  lost = {};
  attempt = 0;
  unanswered = undelivered = 0;
  executing = false;
}

}  // namespace tyer::redis
