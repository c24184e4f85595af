# nghttp2 and protobuf, for the etcd engine's insides. Plain libraries, so that what is installed can say -lnghttp2 too.
find_program(TYER_PROTOC protoc)
find_path(TYER_NGHTTP2_INCLUDE nghttp2/nghttp2.h)
find_path(TYER_PROTOBUF_INCLUDE google/protobuf/message_lite.h)
find_library(TYER_NGHTTP2_LIBRARY nghttp2)
find_library(TYER_PROTOBUF_LIBRARY protobuf-lite)
foreach(name PROTOC NGHTTP2_INCLUDE PROTOBUF_INCLUDE NGHTTP2_LIBRARY PROTOBUF_LIBRARY)
  if(NOT TYER_${name})
    message(FATAL_ERROR "nghttp2, and protobuf with protoc, were not found: run tools/setup, or build without the etcd engine "
                        "(-DTYER_ETCD=OFF)")
  endif()
endforeach()

add_library(tyer_nghttp2 INTERFACE)
target_include_directories(tyer_nghttp2 SYSTEM INTERFACE ${TYER_NGHTTP2_INCLUDE} ${TYER_PROTOBUF_INCLUDE})
target_link_libraries(tyer_nghttp2 INTERFACE nghttp2 protobuf-lite)
