set(ENGINEHOST_MACOS_CPU arm64)
include("${CMAKE_CURRENT_LIST_DIR}/macos-zig.cmake")
