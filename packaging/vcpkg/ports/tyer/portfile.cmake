# An overlay: builds the checkout, or the unpacked release, that this port lies in.
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../../.." ABSOLUTE)

vcpkg_check_features(
    OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        etcd        TYER_ETCD
        mysql       TYER_MYSQL
        postgres    TYER_POSTGRES
        redis       TYER_REDIS
        tools       TYER_CLI
        zookeeper   TYER_ZOOKEEPER
)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        "-DBoost_ROOT=${CURRENT_INSTALLED_DIR}"
        -DTYER_BENCH=OFF
        -DTYER_EXAMPLES=OFF
        -DTYER_INSTALL=ON
        -DTYER_TESTS=OFF
    OPTIONS_DEBUG
        -DTYER_CLI=OFF
    MAYBE_UNUSED_VARIABLES
        Boost_ROOT
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tyer)
vcpkg_fixup_pkgconfig()

if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES tyer AUTO_CLEAN)
endif()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
)
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
