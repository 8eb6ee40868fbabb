# Cross builds on Debian: links the header-only libraries of this machine into folders of their own.

# enginehost_link_headers(FOLDER NAME...) makes the folder and the links in it.
function(enginehost_link_headers folder)
  file(MAKE_DIRECTORY "${folder}")
  foreach(name ${ARGN})
    if(NOT EXISTS "/usr/include/${name}")
      message(FATAL_ERROR "/usr/include/${name} is missing: see scripts/install-dependencies.sh")
    endif()
    file(CREATE_LINK "/usr/include/${name}" "${folder}/${name}" SYMBOLIC)
  endforeach()
endfunction()

# Boost has a folder of its own, because host/load alone includes it.
if(NOT BOOST_DLL_INCLUDE_DIR)
  set(BOOST_DLL_INCLUDE_DIR "${CMAKE_BINARY_DIR}/boost-headers")
  enginehost_link_headers("${BOOST_DLL_INCLUDE_DIR}" boost)
endif()
# The root of another Linux has the other libraries.
if(NOT WIN32 AND NOT APPLE)
  return()
endif()

set(headers "${CMAKE_BINARY_DIR}/debian-headers")
enginehost_link_headers("${headers}" nlohmann tl CLI dlpack)
include_directories(SYSTEM "${headers}")
set(CLI11_INCLUDE_DIR "${headers}")
set(DLPACK_INCLUDE_DIR "${headers}")
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/debian-headers")
if(APPLE)
  include(MacosStubs)
endif()
