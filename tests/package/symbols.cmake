# cmake -D LIBRARY=… -D NM=… -P symbols.cmake
#
# A shared library shows Tyer's own symbols and nothing else: no Boost, no OpenSSL.
execute_process(COMMAND ${NM} -D --defined-only -C ${LIBRARY} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," text "${text}")
string(REGEX REPLACE "\n$" "" text "${text}")
string(REPLACE "\n" ";" lines "${text}")
set(count 0)
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[0-9a-f]* +([A-Za-z]) +(.*)$" "\\1" type "${line}")
  string(REGEX REPLACE "^[0-9a-f]* +([A-Za-z]) +(.*)$" "\\2" symbol "${line}")
  if(symbol MATCHES "boost")
    message(SEND_ERROR "shows a symbol of Boost: ${symbol}")
  elseif(symbol MATCHES "^((typeinfo|typeinfo name|vtable|VTT) for |(virtual|non-virtual) thunk to )?tyer::"
         OR symbol MATCHES "^tyer_engine_[a-z]+$")
    math(EXPR count "${count} + 1")
  elseif(NOT (type MATCHES "[WVu]" AND symbol MATCHES "(^|[ (&*])(std|__gnu_cxx)::"))
    # Instances of the standard library's templates are weak and visible in every library that uses them.
    message(SEND_ERROR "shows a symbol that is not Tyer's: ${type} ${symbol}")
  endif()
endforeach()
if(count EQUAL 0)
  message(SEND_ERROR "shows nothing at all")
endif()
message(STATUS "${count} symbols of Tyer's, and none of anybody else's")
