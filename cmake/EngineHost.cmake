# Functions for every module's CMakeLists.txt: one way to declare a module, a plugin and a test.
# The compiler cache shares objects between folders: paths below the source folder count as relative ones, and the folder of
# the build does not count, although debug information names it.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(ENGINEHOST_CCACHE "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER ${ENGINEHOST_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ENGINEHOST_CCACHE})
endif()

# -g1: backtraces and sanitizer reports need lines and functions only. The rest of -g costs a quarter of the compile time and
# four fifths of the size.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  foreach(language C CXX)
    string(REGEX REPLACE "-g( |$)" "-g1\\1" CMAKE_${language}_FLAGS_RELWITHDEBINFO "${CMAKE_${language}_FLAGS_RELWITHDEBINFO}")
    if(ENGINEHOST_SANITIZE)
      # -O1: both sanitizers' pages advise it; the instrumented code runs twice as fast.
      string(REGEX REPLACE "-g( |$)" "-O1 -g1\\1" CMAKE_${language}_FLAGS_DEBUG "${CMAKE_${language}_FLAGS_DEBUG}")
    endif()
  endforeach()
endif()

# Binds names at program start. Otherwise each of a hundred calls of the first open would look its function up.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_link_options("LINKER:-z,now")
endif()

# The folder of a module with the code of this system.
if(WIN32)
  set(ENGINEHOST_SYSTEM windows)
  add_compile_definitions(_WIN32_WINNT=0x0A00 UNICODE _UNICODE)
else()
  set(ENGINEHOST_SYSTEM posix)
endif()

# enginehost_darwin_sources(LIST) replaces posix/ files by the darwin/ files of the same name, on macOS only. macOS shares the
# rest of posix/.
function(enginehost_darwin_sources list)
  if(NOT APPLE)
    return()
  endif()
  set(found)
  foreach(source IN LISTS ${list})
    string(REGEX REPLACE "(^|/)posix/" "\\1darwin/" own "${source}")
    if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${own}")
      set(source "${own}")
    endif()
    list(APPEND found "${source}")
  endforeach()
  set(${list} ${found} PARENT_SCOPE)
endfunction()

# enginehost_exports(TARGET FILE) exports only the names under "global" of a version script. Apple's linker takes a list of
# symbols instead, which is made from the same file.
function(enginehost_exports target file)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${file}")
  if(WIN32)
    message(FATAL_ERROR "a version script says nothing on Windows")
  elseif(APPLE)
    file(STRINGS "${file}" lines REGEX "global:")
    string(REGEX REPLACE "^.*global:|;.*$" "" names "${lines}")
    string(REGEX MATCHALL "[A-Za-z0-9_*]+" names "${names}")
    list(TRANSFORM names PREPEND "_")
    list(JOIN names "\n" text)
    file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${target}.exports" CONTENT "${text}\n" @ONLY)
    target_link_options(${target} PRIVATE "-Wl,-exported_symbols_list,${CMAKE_CURRENT_BINARY_DIR}/${target}.exports")
  else()
    target_link_options(${target} PRIVATE "-Wl,--version-script=${file}")
  endif()
endfunction()

add_library(enginehost_warnings INTERFACE)
target_compile_options(enginehost_warnings INTERFACE
  -Wall -Wextra -Wpedantic
  # Joined files share names without hiding each other's.
  $<$<NOT:$<OR:$<BOOL:${CMAKE_UNITY_BUILD}>,$<BOOL:$<TARGET_PROPERTY:ENGINEHOST_JOINED>>>>:-Wshadow>
  # False warnings of GCC 12 in joined files: that std::string writes past its end, and that a class of an included .cpp file
  # is in other files.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>>
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion -Wnon-virtual-dtor>
  $<$<BOOL:${ENGINEHOST_WERROR}>:-Werror>)

if(ENGINEHOST_SANITIZE)
  find_program(ENGINEHOST_LLD ld.lld)
  if(ENGINEHOST_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  add_compile_options(-fsanitize=${ENGINEHOST_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ENGINEHOST_SANITIZE})
  if(ENGINEHOST_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
    # clang's vptr check writes memory to test whether it is readable, and ends the program where a test makes writes fail.
    add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)
  endif()
  # GCC defines this macro; clang 14 does not.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND ENGINEHOST_SANITIZE MATCHES "address")
    add_compile_definitions(__SANITIZE_ADDRESS__=1)
  endif()
endif()

# Coverage for libFuzzer in every module. The fuzzers are linked with libFuzzer's main function (tests/fuzz).
if(ENGINEHOST_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# enginehost_apart(SOURCE ...) keeps these files out of joined builds (CMAKE_UNITY_BUILD), because they use names of other files
# for something else.
function(enginehost_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# enginehost_module(NAME SOURCES a.cpp ... [DEPENDS module ...] [LIBRARIES Foo::Foo ...])
# A module is the static library enginehost_NAME. DEPENDS names modules above it; LIBRARIES names third parties, which stay
# private. A joined build compiles all its files as one: every part reads the same headers and makes the same inline functions,
# and two parts instead of one took a third longer.
function(enginehost_module name)
  cmake_parse_arguments(MODULE "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  enginehost_darwin_sources(MODULE_SOURCES)
  add_library(enginehost_${name} STATIC ${MODULE_SOURCES})
  set_target_properties(enginehost_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(enginehost_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  list(TRANSFORM MODULE_DEPENDS PREPEND enginehost_)
  target_link_libraries(enginehost_${name} PUBLIC ${MODULE_DEPENDS} PRIVATE enginehost_warnings ${MODULE_LIBRARIES})
endfunction()

# enginehost_generated_sources(NAME FILE...): sources of a module that failures/CMakeLists.txt generates. All that depend on
# the module wait for the generated headers.
set(ENGINEHOST_GENERATED "${PROJECT_BINARY_DIR}/generated")
function(enginehost_generated_sources name)
  list(TRANSFORM ARGN PREPEND "${ENGINEHOST_GENERATED}/" OUTPUT_VARIABLE files)
  set_source_files_properties(${files} PROPERTIES GENERATED TRUE)
  target_sources(enginehost_${name} PRIVATE ${files})
  target_include_directories(enginehost_${name} PUBLIC "${ENGINEHOST_GENERATED}")
  add_dependencies(enginehost_${name} enginehost_failures)
endfunction()

include(Floor)
include(Portable)

# enginehost_plugin(NAME SOURCES ... [LIBRARIES ...]) builds engines/libengine_NAME.so (.dylib, .dll), which exports one
# symbol only and runs on older systems than this one.
function(enginehost_plugin name)
  cmake_parse_arguments(PLUGIN "" "" "SOURCES;LIBRARIES" ${ARGN})
  enginehost_darwin_sources(PLUGIN_SOURCES)
  add_library(engine_${name} MODULE ${PLUGIN_SOURCES})
  set_target_properties(engine_${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${ENGINEHOST_PLUGIN_OUTPUT_DIRECTORY}"
    UNITY_BUILD_BATCH_SIZE 0)
  target_link_libraries(engine_${name} PRIVATE enginehost_plugin_api enginehost_warnings ${PLUGIN_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY ENGINEHOST_PLUGINS ${name})
  if(APPLE)
    # CMake would name it .so; the manifests name plugins .dylib on macOS.
    set_target_properties(engine_${name} PROPERTIES SUFFIX ".dylib")
  elseif(WIN32)
    # A DLL exports marked symbols only. MinGW would name it libengine_NAME.dll.
    set_target_properties(engine_${name} PROPERTIES PREFIX "")
    return()
  endif()
  # -fvisibility=hidden alone leaks weak symbols of libstdc++ templates; the version script does not.
  enginehost_exports(engine_${name} "${PROJECT_SOURCE_DIR}/engines/support/exports.map")
  enginehost_floor(engine_${name})
endfunction()

# enginehost_map_paths(TARGET [FOLDER=NAME]...) makes the same bytes in every folder, with and without the compiler cache, which
# passes relative paths. FOLDER is outside the source tree. The last map that fits counts.
function(enginehost_map_paths target)
  foreach(place "${PROJECT_SOURCE_DIR}=." "${CMAKE_BINARY_DIR}=." "${CMAKE_BINARY_DIR}/=" ${ARGN})
    string(REGEX MATCH "^[^=]+" from "${place}")
    string(REPLACE "${from}" "" to "${place}")
    file(RELATIVE_PATH relative "${CMAKE_BINARY_DIR}" "${from}")
    string(REGEX REPLACE "/$" "" relative "${relative}")
    foreach(path "${from}" "${relative}")
      if(path)
        target_compile_options(${target} PRIVATE "-ffile-prefix-map=${path}${to}")
      endif()
    endforeach()
  endforeach()
endfunction()

# The prefix of paths in the tests: Wine shows the root as drive Z.
if(WIN32 AND CMAKE_CROSSCOMPILING)
  set(ENGINEHOST_DRIVE "Z:")
endif()

# GoogleTest's headers and those of the modules are most of a test's compile time, and a program's files include the same.
option(ENGINEHOST_JOINED_TESTS "compile several files of a test program at once" OFF)

# Another compiler for the tests: clang takes half of GCC's time for them. The product is still compiled as it is for users.
set(ENGINEHOST_TEST_COMPILER "" CACHE STRING "C++ compiler of the tests, if it is not that of the product")
find_program(ENGINEHOST_LLD ld.lld)
mark_as_advanced(ENGINEHOST_LLD)

# Options of every test. The product is optimized as it is for users; the tests are not, which saves a third of their compile
# time.
function(enginehost_test_options name)
  target_link_libraries(${name} PRIVATE enginehost_test_paths enginehost_warnings GTest::gmock GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  # The tests name failure classes by their released codes.
  target_include_directories(${name} PRIVATE "${ENGINEHOST_GENERATED}")
  add_dependencies(${name} enginehost_failures)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-include "${PROJECT_SOURCE_DIR}/tests/support/codes.hpp">)
  if(ENGINEHOST_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(ENGINEHOST_TEST_COMPILER)
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_BASEDIR=${PROJECT_SOURCE_DIR};CCACHE_NOHASHDIR=1;sh;${PROJECT_SOURCE_DIR}/cmake/compile_with.sh;${ENGINEHOST_TEST_COMPILER}")
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-unknown-warning-option>)
  endif()
  # Links three times as fast as GNU ld.
  if(ENGINEHOST_LLD AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT CMAKE_CROSSCOMPILING)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
endfunction()

# enginehost_test_program(NAME SOURCES ... [LIBRARIES ...]) makes tests/NAME; the caller registers its cases with
# CTest.
function(enginehost_test_program name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES})
  enginehost_test_options(${name})
  if(ENGINEHOST_JOINED_TESTS)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8 ENGINEHOST_JOINED ON)
  endif()
endfunction()

# enginehost_test_define(TARGET MACRO="PATH" ...) defines macros for those files of a test program that name them. The objects
# of all other files are then the same in every folder, and the compiler cache can share them.
function(enginehost_test_define target)
  get_target_property(sources ${target} SOURCES)
  foreach(definition IN LISTS ARGN)
    string(REGEX REPLACE "=.*" "" macro "${definition}")
    set(named FALSE)
    foreach(source IN LISTS sources)
      file(READ "${source}" text)
      if(text MATCHES "${macro}")
        set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS "${definition}")
        set(named TRUE)
      endif()
    endforeach()
    if(NOT named)
      message(FATAL_ERROR "no file of ${target} names ${macro}")
    endif()
  endforeach()
endfunction()

# enginehost_test(NAME SOURCES ... [LIBRARIES ...] [LABELS ...]) makes tests/NAME and registers its cases with CTest.
function(enginehost_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  enginehost_test_program(${name} SOURCES ${TEST_SOURCES} LIBRARIES ${TEST_LIBRARIES})
  if(NOT TEST_LABELS)
    set(TEST_LABELS unit)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${TEST_LABELS}")
endfunction()
