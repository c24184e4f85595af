# The libraries that users link: tyer::tyer, and one component for each engine with dependencies of its own. Then the
# package: find_package(tyer COMPONENTS redis) and pkg-config.

include(CMakePackageConfigHelpers)

# tyer_component(NAME alias ROOMS room... LINKS target... ENTRY entry_point)
function(tyer_component target alias)
  cmake_parse_arguments(C "" "ENTRY" "ROOMS;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${target})
  add_library(tyer::${alias} ALIAS ${target})
  foreach(room IN LISTS C_ROOMS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tyer_${room}>)
  endforeach()
  target_link_libraries(${target} PUBLIC ${C_LINKS} PRIVATE $<BUILD_INTERFACE:tyer_flags> ${C_PRIVATE_LINKS})
  target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/tyer.map)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${alias} VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE CXX)
  if(C_ENTRY)
    # The table of engines refers to the entry point only weakly; this is what keeps the component in the program.
    target_link_options(${target} INTERFACE LINKER:--undefined=${C_ENTRY})
  endif()
  install(TARGETS ${target} EXPORT tyer-targets)
endfunction()

tyer_component(tyer tyer ROOMS core lease engine memory redlock runtime primitives api LINKS Threads::Threads)
set(TYER_COMPONENTS "")
if(TYER_REDIS)
  tyer_component(tyer_redis_engine redis ROOMS redis LINKS tyer PRIVATE_LINKS OpenSSL::SSL ENTRY tyer_engine_redis)
  set_target_properties(tyer_redis_engine PROPERTIES OUTPUT_NAME tyer_redis)
  list(APPEND TYER_COMPONENTS redis)
endif()
if(TYER_ETCD)
  tyer_component(tyer_etcd_engine etcd ROOMS etcd LINKS tyer PRIVATE_LINKS grpc++ grpc gpr absl_synchronization protobuf-lite ENTRY tyer_engine_etcd)
  set_target_properties(tyer_etcd_engine PROPERTIES OUTPUT_NAME tyer_etcd)
  list(APPEND TYER_COMPONENTS etcd)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tyer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(TYER_SHARED FALSE)  # static archives hand their dependencies on to whoever links them
if(BUILD_SHARED_LIBS)
  set(TYER_SHARED TRUE)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tyer)
install(EXPORT tyer-targets NAMESPACE tyer:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tyer-config.cmake.in ${PROJECT_BINARY_DIR}/tyer-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tyer-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tyer-config.cmake ${PROJECT_BINARY_DIR}/tyer-config-version.cmake
        DESTINATION ${package_dir})

# Found from where the files lie, so that `cmake --install --prefix` and a moved tree work.
file(RELATIVE_PATH TYER_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TYER_PC_TO_PREFIX "${TYER_PC_TO_PREFIX}")
set(TYER_PC_REDIS_STATIC "")
if(NOT TYER_SHARED)
  set(TYER_PC_REDIS_STATIC " -lssl -lcrypto")
endif()
set(TYER_PC_ETCD_STATIC "")
if(NOT TYER_SHARED)
  set(TYER_PC_ETCD_STATIC " -lgrpc++ -lgrpc -lgpr -labsl_synchronization -lprotobuf-lite")
endif()
set(pc_names tyer)
foreach(component IN LISTS TYER_COMPONENTS)
  list(APPEND pc_names tyer-${component})
endforeach()
foreach(name IN LISTS pc_names)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
