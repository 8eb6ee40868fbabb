# The Windows build room by room, from below. A room stands here once all of it compiles and its tests run; what is left
# out is said, and nothing is built by half.
add_subdirectory(base)
set(rooms_left_out plugin-api cache engines host)
if(ENGINEHOST_TESTS)
  foreach(room base)
    add_subdirectory(tests/${room})
  endforeach()
endif()
list(JOIN rooms_left_out ", " text)
message(STATUS "Left out of the Windows build: ${text}")
