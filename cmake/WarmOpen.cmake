# What runs when an installed, proven build is opened again lies together in a program, so that few pages of it are
# touched: in a process that has done nothing before, each first touch of a page costs more than the work done there.
# warm-open.ld lists the functions (tests/bench/write_warm_order.py makes it from a recorded open); these are the files
# that hold them. A function that is not listed, or no longer there, lies where it would without all this.
# Most are made small rather than fast (-Os): none works long, and half the pages hold them all.
# Valgrind names no function outside .text: record and debug with -DENGINEHOST_WARM_ORDER=OFF.
option(ENGINEHOST_WARM_ORDER "put what a repeated open runs together (Linux)" ON)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR ENGINEHOST_SANITIZE
   OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  return()
endif()

function(enginehost_warm_sources target folder)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -ffunction-sections)
  foreach(source IN LISTS ARGN)
    if(NOT source MATCHES "${made_for_speed}")
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} APPEND PROPERTY COMPILE_OPTIONS -Os)
      # What was precompiled for speed cannot be used.
      set_property(SOURCE ${source} TARGET_DIRECTORY ${target} PROPERTY SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
# Made for size, a literal's length is counted each time it is compared with; and the rest of these serves more than opens.
set(made_for_speed
  "/(settings|loader_environment|environment|diagnosis|files|text)\\.cpp$")

enginehost_warm_sources(enginehost_base_core base
  diagnosis.cpp files.cpp text.cpp posix/environment.cpp posix/file_system.cpp posix/per_process.cpp posix/process.cpp
  posix/program_folders.cpp)
enginehost_warm_sources(enginehost_cache cache installed.cpp lease.cpp lock.cpp sharing.cpp store.cpp posix/part_lock.cpp)
enginehost_warm_sources(enginehost_settings host/settings settings.cpp posix/deciding.cpp)
enginehost_warm_sources(enginehost_linker host/linker posix/loader_folders.cpp posix/machine.cpp posix/mapped_file.cpp)
enginehost_warm_sources(enginehost_platform host/platform loader_environment.cpp posix/machine_key.cpp posix/root.cpp)
enginehost_warm_sources(enginehost_history host/history firsts.cpp program.cpp sentinel.cpp posix/running_program.cpp)
enginehost_warm_sources(enginehost_plugin_floors host/preflight plugin_floors.cpp)
enginehost_warm_sources(enginehost_load_core host/load
  in_process/audit.cpp in_process/call.cpp in_process/engine.cpp in_process/health.cpp in_process/kept.cpp
  in_process/load.cpp in_process/loaded.cpp in_process/posix/kept.cpp in_process/posix/mapped.cpp
  in_process/posix/open_library.cpp wire.cpp)
enginehost_warm_sources(enginehost_open host/open
  attempt.cpp left_over.cpp loading.cpp neighbours.cpp open.cpp proving.cpp shared.cpp shortcut.cpp trial.cpp turn.cpp witness.cpp
  world.cpp)

foreach(target IN ITEMS enginehost engine-info engine-run bench_open_child)
  if(TARGET ${target} AND ENGINEHOST_WARM_ORDER)
    target_link_options(${target} PRIVATE "LINKER:-T,${CMAKE_CURRENT_LIST_DIR}/warm-open.ld")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/warm-open.ld")
  endif()
endforeach()
