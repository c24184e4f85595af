# The libraries that users link: tyer::tyer, and one component for each engine with dependencies of its own. Then the
# package: find_package(tyer COMPONENTS redis) and pkg-config. Each component has its own export set and its own .pc file,
# so that whoever asks for one needs nothing of another.

include(CMakePackageConfigHelpers)

# Before 1.0 every minor version may break programs, so it is part of the name that they ask the loader for.
set(TYER_SOVERSION ${PROJECT_VERSION_MAJOR})
set(TYER_COMPATIBILITY SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(TYER_SOVERSION 0.${PROJECT_VERSION_MINOR})
  set(TYER_COMPATIBILITY SameMinorVersion)
endif()
set(TYER_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tyer)

if(TYER_INSTALL)
  # All that `cmake --install` needs built, and none of the tests.
  add_custom_target(tyer_installable)
endif()

# tyer_library(TARGET alias EXPORT set ROOMS room... LINKS target... PRIVATE_LINKS target...)
#
# The property TYER_ROOMS of the target says afterwards what it is made of.
function(tyer_library target alias)
  cmake_parse_arguments(L "" "EXPORT" "ROOMS;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${target})
  add_library(tyer::${alias} ALIAS ${target})
  foreach(room IN LISTS L_ROOMS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tyer_${room}>)
  endforeach()
  target_link_libraries(${target} PUBLIC ${L_LINKS} PRIVATE $<BUILD_INTERFACE:tyer_flags> ${L_PRIVATE_LINKS})
  target_link_options(${target} PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/tyer.map)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${alias} VERSION ${PROJECT_VERSION}
                                             SOVERSION ${TYER_SOVERSION} LINKER_LANGUAGE CXX TYER_ROOMS "${L_ROOMS}")
  if(TYER_INSTALL)
    install(TARGETS ${target} EXPORT ${L_EXPORT}
            LIBRARY COMPONENT tyer_runtime NAMELINK_COMPONENT tyer_development
            ARCHIVE COMPONENT tyer_development)
    add_dependencies(tyer_installable ${target})
    install(EXPORT ${L_EXPORT} NAMESPACE tyer:: DESTINATION ${TYER_PACKAGE_DIR} COMPONENT tyer_development)
  endif()
endfunction()

# Found from where the files lie, so that `cmake --install --prefix` and a moved tree work.
file(RELATIVE_PATH TYER_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TYER_PC_TO_PREFIX "${TYER_PC_TO_PREFIX}")

function(tyer_pkg_config template name)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${template}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  if(TYER_INSTALL)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
            COMPONENT tyer_development)
  endif()
endfunction()

# tyer_component(NAME TITLE "..." ROOMS room... LINKS target... ARCHIVE_LINKS -lname... ARCHIVE_REQUIRES module... ARCHIVE_FINDS package...
#                ARCHIVE_LOOKS name...)
#
# The component NAME, of the room NAME and those of ROOMS, if TYER_NAME is on. An archive hands what it needs on to whoever links it: as
# ARCHIVE_LINKS and ARCHIVE_REQUIRES through pkg-config, and with ARCHIVE_FINDS through find_package. ARCHIVE_LOOKS are plain libraries:
# the program that links them looks for their folder.
set(TYER_COMPONENTS "")        # those that are built
set(TYER_COMPONENTS_KNOWN "")  # all that there could be
set(TYER_COMPONENTS_FIND "")   # lines of the package file
macro(tyer_component name)
  cmake_parse_arguments(C "" "TITLE" "ROOMS;LINKS;ARCHIVE_LINKS;ARCHIVE_REQUIRES;ARCHIVE_FINDS;ARCHIVE_LOOKS" ${ARGN})
  list(APPEND TYER_COMPONENTS_KNOWN ${name})
  string(TOUPPER ${name} C_OPTION)
  if(TYER_${C_OPTION})
    list(APPEND TYER_COMPONENTS ${name})
    tyer_library(tyer_${name}_engine ${name} EXPORT tyer-${name}-targets ROOMS ${name} ${C_ROOMS} LINKS tyer
                 PRIVATE_LINKS ${C_LINKS})
    set_target_properties(tyer_${name}_engine PROPERTIES OUTPUT_NAME tyer_${name})
    # The table of engines refers to the entry point only weakly; the link options are what keeps the component in the
    # program: an archive by its entry point, a shared library even where the linker drops what nothing refers to.
    set(TYER_PC_NAME ${name})
    set(TYER_PC_TITLE ${C_TITLE})
    set(TYER_PC_REQUIRES "")
    if(BUILD_SHARED_LIBS)
      target_link_options(tyer_${name}_engine INTERFACE
                          LINKER:--push-state,--no-as-needed,$<TARGET_FILE:tyer::${name}>,--pop-state)
      set(TYER_PC_LIBS "-Wl,--push-state,--no-as-needed,-ltyer_${name},--pop-state -ltyer -pthread")
    else()
      target_link_options(tyer_${name}_engine INTERFACE LINKER:--undefined=tyer_engine_${name})
      string(JOIN " " TYER_PC_LIBS -Wl,--undefined=tyer_engine_${name} -ltyer_${name} -ltyer -pthread ${C_ARCHIVE_LINKS})
      list(TRANSFORM C_ARCHIVE_REQUIRES PREPEND ", " OUTPUT_VARIABLE TYER_PC_REQUIRES)
      string(APPEND TYER_COMPONENTS_FIND "set(tyer_${name}_finds ${C_ARCHIVE_FINDS})\nset(tyer_${name}_looks ${C_ARCHIVE_LOOKS})\n")
    endif()
    tyer_pkg_config(tyer-component tyer-${name})
  endif()
endmacro()

tyer_library(tyer tyer EXPORT tyer-targets ROOMS core lease stats engine kit memory redlock runtime primitives api recipes
             LINKS Threads::Threads)
tyer_pkg_config(tyer tyer)
tyer_component(redis TITLE "the Redis and Valkey engine" ROOMS net LINKS OpenSSL::SSL
               ARCHIVE_LINKS -lssl -lcrypto ARCHIVE_FINDS OpenSSL)
if(TYER_PROTOBUF MATCHES "::")
  set(protobuf_of_archives ARCHIVE_LINKS -lnghttp2 -lssl -lcrypto ARCHIVE_REQUIRES protobuf-lite ARCHIVE_FINDS OpenSSL protobuf
                           ARCHIVE_LOOKS nghttp2)
else()
  set(protobuf_of_archives ARCHIVE_LINKS -lnghttp2 -lprotobuf-lite -lssl -lcrypto ARCHIVE_FINDS OpenSSL
                           ARCHIVE_LOOKS nghttp2 protobuf-lite)
endif()
# What of the kit a component uses is in it once more, hidden: libtyer exports nothing of it.
tyer_component(etcd TITLE "the etcd engine" ROOMS kit net LINKS nghttp2 ${TYER_PROTOBUF} OpenSSL::SSL ${protobuf_of_archives})
if(TYER_ETCD)
  target_link_directories(tyer_etcd_engine PUBLIC $<BUILD_INTERFACE:${TYER_ETCD_LIBRARY_DIRS}>)
endif()

# In work: nobody is told of them who has not asked for them.
if(TYER_POSTGRES)
  tyer_component(postgres TITLE "the PostgreSQL engine" ROOMS sql kit LINKS PostgreSQL::PostgreSQL
                 ARCHIVE_LINKS -lpq ARCHIVE_FINDS PostgreSQL)
endif()
if(TYER_MYSQL)
  tyer_component(mysql TITLE "the MySQL and MariaDB engine" ROOMS sql kit net LINKS OpenSSL::SSL
                 ARCHIVE_LINKS -lssl -lcrypto ARCHIVE_FINDS OpenSSL)
endif()
if(TYER_ZOOKEEPER)
  tyer_component(zookeeper TITLE "the ZooKeeper engine" ROOMS kit net LINKS OpenSSL::SSL
                 ARCHIVE_LINKS -lssl -lcrypto ARCHIVE_FINDS OpenSSL)
endif()

if(TYER_INSTALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tyer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT tyer_development)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tyer-config.cmake.in ${PROJECT_BINARY_DIR}/tyer-config.cmake
                                INSTALL_DESTINATION ${TYER_PACKAGE_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tyer-config-version.cmake COMPATIBILITY ${TYER_COMPATIBILITY})
  install(FILES ${PROJECT_BINARY_DIR}/tyer-config.cmake ${PROJECT_BINARY_DIR}/tyer-config-version.cmake
          DESTINATION ${TYER_PACKAGE_DIR} COMPONENT tyer_development)
endif()
