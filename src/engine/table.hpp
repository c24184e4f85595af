// The closed table of engines: scheme to maker.
#pragma once

#include "core/uri.hpp"
#include "engine/engine.hpp"
#include "engine/environment.hpp"

#include <tyer/error.hpp>

#include <memory>
#include <string>

namespace tyer::engine {

struct made {
  std::unique_ptr<engine> value;
  tyer::failure error;
  std::string place = {};  // where the names are: equal for all URIs that mean the same, as far as that can be told
};

// An engine component defines one of these under the name of its entry point. It removes the options that it knows from the
// query of the URI; the table reports those that are left as errors. It writes into the URI what was left to it (ports, the
// database), which is then the place, unless it tells another.
using maker = made (*)(core::uri&, const environment&);

// Never I/O. An engine that is not linked in gives errc::no_engine and says what to link.
TYER_EXPORT made make(core::uri address, const environment&);

}  // namespace tyer::engine

// The entry points. Weak: an engine that is not linked in is a null pointer. A component is kept by its link option
// `--undefined=`, not by a static initialiser, which archives and --as-needed would drop.
extern "C" {
tyer::engine::made tyer_engine_memory(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_redlock(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_redis(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_etcd(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_postgres(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_mysql(tyer::core::uri&, const tyer::engine::environment&);
tyer::engine::made tyer_engine_zookeeper(tyer::core::uri&, const tyer::engine::environment&);
}
