# The plugin for Windows, made by MinGW on another system. nvcc makes the device code, which is the same on
# every system; embedded_kernels.cpp holds it. The import libraries name the functions that the plugin calls, so
# no file of a toolkit for Windows is needed. Called by toolkit.cmake with nvcc's `codes`.
get_filename_component(toolkit "${CMAKE_CUDA_COMPILER}" DIRECTORY)
find_path(ENGINEHOST_CUDA_INCLUDE cuda_runtime_api.h HINTS "${toolkit}/../include" NO_CMAKE_FIND_ROOT_PATH)
find_path(ENGINEHOST_CUDNN_INCLUDE cudnn_version.h HINTS "${toolkit}/../include" NO_CMAKE_FIND_ROOT_PATH)
if(NOT ENGINEHOST_CUDA_INCLUDE OR NOT ENGINEHOST_CUDNN_INCLUDE)
  message(STATUS "engines/cuda is left out: the headers of CUDA or cuDNN were not found beside ${CMAKE_CUDA_COMPILER}")
  return()
endif()
file(STRINGS "${ENGINEHOST_CUDA_INCLUDE}/cuda_runtime_api.h" cuda REGEX "#define CUDART_VERSION ")
file(STRINGS "${ENGINEHOST_CUDNN_INCLUDE}/cudnn_version.h" cudnn REGEX "#define CUDNN_MAJOR ")
if(NOT cuda MATCHES " 13[0-9][0-9][0-9]$" OR NOT cudnn MATCHES " 9$")
  message(STATUS "engines/cuda is left out: for Windows it needs CUDA 13 and cuDNN 9, the files that windows/*.def name")
  return()
endif()

set(generated)
foreach(code IN LISTS codes)
  list(APPEND generated -gencode "arch=compute_${code},code=sm_${code}")
endforeach()
set(device_code "${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin")
add_custom_command(OUTPUT "${device_code}"
  COMMAND "${CMAKE_CUDA_COMPILER}" -std=c++17 -O2 --threads=2 ${generated}
    -gencode "arch=compute_${newest},code=compute_${newest}" "-I${PROJECT_SOURCE_DIR}" -fatbin
    "${CMAKE_CURRENT_SOURCE_DIR}/kernels.cu" -o "${device_code}"
  DEPENDS kernels.cu kernels.hpp
  COMMENT "Compiling the kernels' device code" VERBATIM)

set(libraries)
foreach(name cudart64_13 cublasLt64_13 cudnn64_9)
  set(library "${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a")
  add_custom_command(OUTPUT "${library}"
    COMMAND "${CMAKE_DLLTOOL}" --temp-prefix "${name}" --input-def "${CMAKE_CURRENT_SOURCE_DIR}/windows/${name}.def"
      --output-lib "${library}"
    DEPENDS "windows/${name}.def"
    COMMENT "Making the import library of ${name}.dll" VERBATIM)
  list(APPEND libraries "${library}")
endforeach()

list(TRANSFORM codes REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE code_names)
list(GET code_names -1 newest_name)
list(JOIN code_names " " code_names)
enginehost_cuda_plugin(cuda
  MAJOR 13
  CODE "sass ${code_names} ptx ${newest_name}"
  BUILT_BY "nvcc"
  DEVICE_CODE "${device_code}"
  INCLUDES "${ENGINEHOST_CUDA_INCLUDE}" "${ENGINEHOST_CUDNN_INCLUDE}"
  LIBRARIES ${libraries}
  FOLDERS cu13 cudnn)
target_sources(engine_cuda PRIVATE ${libraries})
