# Plugins are compiled here and run on older systems: they need nothing newer than glibc 2.28 and the libstdc++ of GCC 8, which
# are RHEL 8's. docs/decisions/033-plugins-for-older-systems.md explains why it is done in this way.
include(CheckCXXSymbolExists)
set(floor OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$" AND NOT ENGINEHOST_SANITIZE)
  check_cxx_symbol_exists(__GLIBC__ cstdlib ENGINEHOST_FOR_GLIBC)
  set(floor "${ENGINEHOST_FOR_GLIBC}")
endif()
option(ENGINEHOST_FLOOR "link plugins for glibc 2.28 and GCC 8's libstdc++" "${floor}")

# enginehost_floor(TARGET) links a plugin, or a program without other libraries of the system, for these older systems. A
# function that is too new is a linker's error.
if(NOT ENGINEHOST_FLOOR)
  function(enginehost_floor target)
  endfunction()
  return()
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(sources "${CMAKE_CURRENT_LIST_DIR}/floor")
set(floor_sources glibc.c start.c array_length.cpp streams.cpp streams_of_old_abi.cpp)
set(ENGINEHOST_FLOOR_TABLE "${sources}/symbols.txt")
set(ENGINEHOST_FLOOR_STUBS "${CMAKE_BINARY_DIR}/floor")
add_custom_command(OUTPUT "${ENGINEHOST_FLOOR_STUBS}/libc.so" "${ENGINEHOST_FLOOR_STUBS}/libfilesystem.a"
  COMMAND Python3::Interpreter "${sources}/make_stubs.py" "${ENGINEHOST_FLOOR_TABLE}" "${CMAKE_SYSTEM_PROCESSOR}"
    "${ENGINEHOST_FLOOR_STUBS}" "${CMAKE_AR}" "${CMAKE_CXX_COMPILER}"
  DEPENDS "${sources}/make_stubs.py" "${ENGINEHOST_FLOOR_TABLE}"
  COMMENT "Making libraries with the symbols of glibc 2.28 and GCC 8"
  VERBATIM)
add_custom_target(enginehost_floor_stubs DEPENDS "${ENGINEHOST_FLOOR_STUBS}/libc.so")

# Functions that newer headers call in addition.
list(TRANSFORM floor_sources PREPEND "${PROJECT_SOURCE_DIR}/engines/support/floor/")
add_library(enginehost_floor STATIC ${floor_sources})
target_link_libraries(enginehost_floor PRIVATE enginehost_warnings)
target_compile_options(enginehost_floor PRIVATE -g0)  # no path of this folder, which the plugins would contain
set_target_properties(enginehost_floor PROPERTIES UNITY_BUILD OFF ARCHIVE_OUTPUT_DIRECTORY "${ENGINEHOST_FLOOR_STUBS}")
target_include_directories(enginehost_floor PRIVATE "${PROJECT_SOURCE_DIR}")
add_dependencies(enginehost_floor enginehost_floor_stubs)
# The default versions of the stubs' symbols are the ones that a plugin gets.
target_link_options(enginehost_floor INTERFACE "-L${ENGINEHOST_FLOOR_STUBS}")

function(enginehost_floor target)
  target_link_libraries(${target} PRIVATE "${ENGINEHOST_FLOOR_STUBS}/libfilesystem.a" enginehost_floor)
  target_link_options(${target} PRIVATE LINKER:-z,defs)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # Its code would otherwise have copies of objects such as environ, and the stubs do not show which names are one object.
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${ENGINEHOST_FLOOR_STUBS}/libc.so")
endfunction()
