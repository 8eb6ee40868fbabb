# A build that runs on other machines than this one: everything but the C library is linked into libenginehost.so and hidden
# there, and nothing newer than glibc 2.28 is needed (docs/decisions/050-portable-library.md).
set(ENGINEHOST_PORTABLE_LIBRARIES "" CACHE PATH
  "folder that scripts/portable-libraries.sh made; the build then runs on any Linux with glibc 2.28")

set(ENGINEHOST_LINKED_IN "" CACHE STRING "names and versions of the libraries that are linked in, for --version")

# Programs and applications share one copy of the code. In other builds each program is complete, so that it also starts with
# more rights than its caller, where the loader ignores $ORIGIN.
set(ENGINEHOST_SHARED_COMMANDS OFF)
if(ENGINEHOST_PORTABLE_LIBRARIES)
  set(ENGINEHOST_SHARED_COMMANDS ON)
endif()

# enginehost_portable(TARGET) links a library or program of the product in this way. In other builds it does nothing.
if(NOT ENGINEHOST_PORTABLE_LIBRARIES)
  function(enginehost_portable target)
  endfunction()
  return()
endif()

if(NOT ENGINEHOST_FLOOR)
  message(FATAL_ERROR "a portable build is made for Linux with glibc on x86_64 or aarch64, without sanitizers")
endif()
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/portable-libraries")
if(CMAKE_CROSSCOMPILING)
  # Otherwise only the other system's root is searched.
  list(APPEND CMAKE_FIND_ROOT_PATH "${ENGINEHOST_PORTABLE_LIBRARIES}")
endif()

# Functions that GCC's static C++ runtime calls and glibc 2.28 lacks.
add_library(enginehost_static_runtime OBJECT
  "${PROJECT_SOURCE_DIR}/engines/support/floor/glibc.c" "${PROJECT_SOURCE_DIR}/engines/support/floor/static_runtime.c"
  "${PROJECT_SOURCE_DIR}/engines/support/floor/start.c")
target_link_libraries(enginehost_static_runtime PRIVATE enginehost_warnings)
# The compiler's runtime comes last in the command of the linker, where an archive of this would be too early.
target_compile_options(enginehost_static_runtime PRIVATE -ffunction-sections)
set_target_properties(enginehost_static_runtime PROPERTIES UNITY_BUILD OFF)
add_dependencies(enginehost_static_runtime enginehost_floor_stubs)

function(enginehost_portable target)
  target_link_options(${target} PRIVATE "-L${ENGINEHOST_FLOOR_STUBS}" -static-libstdc++ -static-libgcc
    LINKER:-z,defs LINKER:--gc-sections LINKER:--as-needed)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    target_link_options(${target} PRIVATE LINKER:-z,nodynamic-undefined-weak)  # unknown for aarch64; see static_runtime.c
  endif()
  target_link_libraries(${target} PRIVATE enginehost_static_runtime)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${ENGINEHOST_FLOOR_STUBS}/libc.so")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_options(${target} PRIVATE LINKER:-u,__cxa_pure_virtual)  # GCC names it weakly
  endif()
  if(type STREQUAL "EXECUTABLE")
    # LD_LIBRARY_PATH goes before a RUNPATH, but not before an RPATH.
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/../lib")
  endif()
endfunction()
