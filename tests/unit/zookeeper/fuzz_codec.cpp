// Any bytes as any answer: nothing is read past its end, and no memory is taken for what is not there.
#include "engines/zookeeper/wire/codec.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyer::zookeeper::wire;
  const std::string_view all{reinterpret_cast<const char*>(data), size};
  read_created(all);
  read_node(all);
  read_stat(all);
  read_children(all);
  read_multi(all);
  framer f;
  f.add(all.substr(0, size / 2));
  while (f.next()) f.done();
  f.add(all.substr(size / 2));
  while (f.next()) f.done();
  return 0;
}
