set(ENGINEHOST_MACOS_CPU x86_64)
include("${CMAKE_CURRENT_LIST_DIR}/macos-zig.cmake")
