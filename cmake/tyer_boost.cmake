# Boost headers, 1.88 or newer, for the engines' insides; Boost.Redis changes its interface with every version, so the Redis engine
# wants 1.88 itself. Only headers: nothing of Boost is linked or exported.
# Where the system's Boost is too old, Boost_ROOT (variable or environment) points at newer headers; tools/setup puts
# them under TYER_DEPS, by default /opt/tyer.

set(deps $ENV{TYER_DEPS})
if(NOT deps)
  set(deps /opt/tyer)
endif()
find_path(TYER_BOOST_INCLUDE boost/redis.hpp
          HINTS ${Boost_ROOT} $ENV{Boost_ROOT} ${deps}/boost-1.88/usr ${deps}/boost-1.88 PATH_SUFFIXES include)
if(NOT TYER_BOOST_INCLUDE)
  message(FATAL_ERROR "Boost headers with Boost.Redis (1.88 or newer) were not found: run tools/setup, or set Boost_ROOT, "
                      "or build without the engines that need them (-DTYER_REDIS=OFF -DTYER_ETCD=OFF)")
endif()
file(STRINGS ${TYER_BOOST_INCLUDE}/boost/version.hpp boost_version REGEX "#define BOOST_VERSION ")
string(REGEX REPLACE "[^0-9]+([0-9]+).*" "\\1" boost_version "${boost_version}")
if(boost_version LESS 108800)
  message(FATAL_ERROR "Boost in ${TYER_BOOST_INCLUDE} is ${boost_version}; 108800 or newer is needed")
endif()
if(TYER_REDIS AND NOT boost_version LESS 108900)
  message(FATAL_ERROR "Boost in ${TYER_BOOST_INCLUDE} is ${boost_version}; the Redis engine needs 1.88, whose headers may lie beside "
                      "it: set Boost_ROOT to them. A program that uses Tyer may have any other version")
endif()

add_library(tyer_boost INTERFACE)
target_include_directories(tyer_boost SYSTEM INTERFACE ${TYER_BOOST_INCLUDE})
# Asio makes its symbols visible whatever the compiler was told, unless it is asked not to. The program may have a Boost of its own,
# of any version: in an archive of ours hidden symbols are still seen, and the linker would take the one for the other. So ours has
# another namespace. (The last is Boost's own file, whose name would be taken for that of the namespace.)
target_compile_definitions(tyer_boost INTERFACE BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
                                                BOOST_ASIO_DISABLE_VISIBILITY boost=tyer_boost
                                                BOOST_USER_CONFIG="boost/config/user.hpp")
