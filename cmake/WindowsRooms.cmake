# The Windows build room by room, from below. A room stands here once all of it compiles and its tests run; what is left
# out is said, and nothing is built by half.
add_subdirectory(base)
add_subdirectory(plugin-api)
add_subdirectory(cache)
add_subdirectory(engines)
foreach(room binary linker platform settings transfer oci manifest installations history resolve acquire preflight explain
             load open offline publish sdk commands)
  add_subdirectory(host/${room})
endforeach()
add_subdirectory(manifests)
set(rooms_left_out "the tests of host/open")
if(ENGINEHOST_TESTS)
  foreach(room support base cache binary linker platform settings transfer manifest installations history resolve preflight
               explain load engines oci acquire offline publish sdk end-to-end)
    add_subdirectory(tests/${room})
  endforeach()
endif()
list(JOIN rooms_left_out ", " text)
message(STATUS "Left out of the Windows build: ${text}")
