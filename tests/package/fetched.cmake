# cmake -D WANTED=redis -D SOURCE=… -D WORK=… -P fetched.cmake
#
# A project with Tyer inside it by FetchContent, with one engine only; then what that project installs.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/linked.cmake)
string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")

set(engines "")
foreach(component IN LISTS COMPONENTS)
  string(TOUPPER ${component} option)
  set(on OFF)
  if(component STREQUAL WANTED)
    set(on ON)
  else()
    set(other ${component})
    set(other_option ${option})
  endif()
  list(APPEND engines -D TYER_${option}=${on})
endforeach()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${configure} -S ${HERE}/fetched -B ${WORK} -D TYER_SOURCE=${SOURCE} -D WANTED=${WANTED}
    -D TYER_INSTALL=ON ${engines})
run(${CMAKE_COMMAND} --build ${WORK})
holds_a_lock(${WORK}/user ${WANTED})
set(LIBRARIES ${WORK})
links_only(${WORK}/user ${WANTED})

# ---- what is not installed can be asked for, and one is told what to do
run(${CMAKE_COMMAND} --install ${WORK} --prefix ${prefix})
run(${configure} -S ${HERE}/user -B ${WORK}/asks -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=${WANTED})
if(other)
  refused(${configure} -S ${HERE}/user -B ${WORK}/asks -D CMAKE_PREFIX_PATH=${prefix} -D WANTED=${other})
  expect("without the component '${other}'; build Tyer with -DTYER_${other_option}=ON and install it again.")
endif()
