# cmake -D BUILD=… -D WORK=… -D HERE=… -P installed.cmake
#
# Installs the build into an empty prefix, moves it elsewhere, and uses it from there as a stranger would, with nothing of
# the source tree on any path: with no component, with each alone, and with all.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/linked.cmake)
string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${prefix})

set(sanitize "")
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()
set(LIBRARIES ${prefix}/${LIBDIR})
set(ENV{LD_LIBRARY_PATH} ${LIBRARIES})
set(configure ${CMAKE_COMMAND} -S ${HERE}/user -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
    -D CMAKE_BUILD_TYPE=${BUILD_TYPE} -D CMAKE_CXX_FLAGS=${sanitize})

# ---- what programs ask the loader for changes with every version that may break them
if(EXISTS ${LIBRARIES}/libtyer.so)
  string(REGEX MATCH "^0\\.[0-9]+|^[1-9][0-9]*" breaking "${VERSION}")
  foreach(name tyer ${COMPONENTS})
    string(REPLACE "tyer_tyer" "tyer" name "tyer_${name}")
    run(${READELF} -d ${LIBRARIES}/lib${name}.so)
    expect("Library soname: [lib${name}.so.${breaking}]")
  endforeach()
endif()

# ---- the command line, with its papers
if(CLI)
  run(${prefix}/bin/tyer version)
  expect("tyer ")
  foreach(file man/man1/tyer.1.gz man/man1/tyer-ls.1.gz bash-completion/completions/tyer zsh/site-functions/_tyer
               fish/vendor_completions.d/tyer.fish)
    if(NOT EXISTS ${prefix}/share/${file})
      message(FATAL_ERROR "share/${file} was not installed")
    endif()
  endforeach()
endif()

# ---- find_package
set(cases none ${COMPONENTS} all)
foreach(case IN LISTS cases)
  set(wanted ${case})
  if(case STREQUAL "none")
    set(wanted "")
  elseif(case STREQUAL "all")
    set(wanted ${COMPONENTS})
  endif()
  string(REPLACE ";" "," wanted_in_one_word "${wanted}")
  # Whoever did not ask for a component that needs OpenSSL must not be made to look for it.
  set(without "")
  if(NOT "redis" IN_LIST wanted AND NOT "etcd" IN_LIST wanted)
    set(without -D CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
  endif()
  run(${configure} -B ${WORK}/${case} -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=${wanted_in_one_word} ${without})
  if(case STREQUAL "none")
    list(JOIN COMPONENTS ", " there)
    expect("no component was asked for, so there is only tyer::tyer, with memory://. Installed components: ${there};")
  endif()
  run(${CMAKE_COMMAND} --build ${WORK}/${case})
  holds_a_lock(${WORK}/${case}/user ${wanted})
  links_only(${WORK}/${case}/user ${wanted})
endforeach()

# ---- tyer/asio.hpp, over a Boost that the project finds for itself
if(BOOST)
  run(${configure} -B ${WORK}/asio -D CMAKE_PREFIX_PATH=${prefix} -D WITH_ASIO=ON -D Boost_ROOT=${BOOST})
  run(${CMAKE_COMMAND} --build ${WORK}/asio --target asio_user)
  run(${WORK}/asio/asio_user)
endif()

# ---- Boost.Redis in the program and in the library: in archives the linker took the one for the other
if(BOOST AND "redis" IN_LIST COMPONENTS)
  run(${configure} -B ${WORK}/boost -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=redis -D WITH_BOOST=ON -D Boost_ROOT=${BOOST})
  run(${CMAKE_COMMAND} --build ${WORK}/boost --target boost_user)
  run(${ENGINES} run redis -- ${HERE}/../contract/behind_proxy polite sh -c "exec ${WORK}/boost/boost_user $TYER_URI")
  expect("each in its way")
endif()

# ---- a component that does not exist is refused when the project is configured
refused(${configure} -B ${WORK}/unknown -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=carrier_pigeon)
expect("This Tyer was installed without the component 'carrier_pigeon'; there are: redis, etcd.")

# ---- versions: another minor version of 0.x is another library
refused(${configure} -B ${WORK}/version -D CMAKE_PREFIX_PATH=${prefix} -D WANTED_VERSION=0.0)
expect("compatible with requested version \"0.0\"")

# ---- pkg-config
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${LIBRARIES}/pkgconfig)
  run(${PKG_CONFIG} --cflags tyer)
  separate_arguments(flags UNIX_COMMAND "${output}")
  run(${COMPILER} ${sanitize} ${flags} -c ${HERE}/user/user.cpp -o ${WORK}/user.o)
  foreach(case IN ITEMS none ${COMPONENTS})
    set(package tyer-${case})
    set(wanted ${case})
    if(case STREQUAL "none")
      set(package tyer)
      set(wanted "")
    endif()
    run(${PKG_CONFIG} --libs ${package})
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${COMPILER} ${sanitize} ${WORK}/user.o -o ${WORK}/by-${package} ${flags})
    holds_a_lock(${WORK}/by-${package} ${wanted})
    links_only(${WORK}/by-${package} ${wanted})
  endforeach()
endif()
