# cmake -D BUILD=… -D WORK=… -D USER=… -P installed.cmake
#
# Installs the build into an empty prefix and uses it from there as a stranger would, with nothing of the source tree on
# any path.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# What a program says must be what was expected of it.
function(expect text)
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

set(sanitize "")
if(SANITIZE)
  set(sanitize -fsanitize=${SANITIZE})
endif()
set(ENV{LD_LIBRARY_PATH} ${prefix}/${LIBDIR})

# ---- find_package, with every component there is, and with none
set(all ${COMPONENTS})
string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")
foreach(components IN ITEMS "${all}" "")
  string(MAKE_C_IDENTIFIER "with_${components}" folder)
  run(${CMAKE_COMMAND} -S ${USER} -B ${WORK}/${folder} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
      -D CMAKE_PREFIX_PATH=${prefix} -D "WANTED=${components}" -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
      -D "CMAKE_CXX_FLAGS=${sanitize}")
  run(${CMAKE_COMMAND} --build ${WORK}/${folder})
  run(${WORK}/${folder}/user memory://)
  expect("held")
  foreach(component IN LISTS COMPONENTS)
    run(${WORK}/${folder}/user ${component}://127.0.0.1:1)
    if(components)
      expect("made")  # nothing listens there, but the engine is linked in
    else()
      expect("needs the component tyer::${component}")
    endif()
  endforeach()
endforeach()
run(${WORK}/with_/user redis://127.0.0.1:1)
expect("needs the component tyer::redis")

# ---- a component that was not built is refused when the project is configured
execute_process(COMMAND ${CMAKE_COMMAND} -S ${USER} -B ${WORK}/missing -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
                        -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=carrier_pigeon
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "find_package(tyer COMPONENTS carrier_pigeon) was content:\n${output}")
endif()
expect("NOT")

# ---- pkg-config, elsewhere than where it was configured for
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  foreach(package IN ITEMS tyer ${COMPONENTS})
    set(name ${package})
    if(NOT package STREQUAL "tyer")
      set(name tyer-${package})
    endif()
    run(${PKG_CONFIG} --cflags --libs ${name})
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${COMPILER} ${sanitize} ${USER}/user.cpp -o ${WORK}/${name} ${flags})
    run(${WORK}/${name} memory://)
    expect("held")
    run(${WORK}/${name} redis://127.0.0.1:1)
    if(package STREQUAL "redis")
      expect("made")
    else()
      expect("needs the component tyer::redis")
    endif()
  endforeach()
endif()
