# The plugin for an installed CUDA Toolkit with cuDNN 9. nvcc is found in PATH or in /usr/local/cuda/bin, or
# is named by -DCMAKE_CUDA_COMPILER=. Without them it is not built.
if(CMAKE_CROSSCOMPILING AND NOT MINGW)
  message(STATUS "engines/cuda is left out: the CUDA Toolkit of this machine has no libraries for ${CMAKE_SYSTEM_PROCESSOR}")
  return()
endif()
include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER)
  find_program(ENGINEHOST_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  if(ENGINEHOST_NVCC)
    set(CMAKE_CUDA_COMPILER "${ENGINEHOST_NVCC}")
  endif()
endif()
if(NOT CMAKE_CUDA_COMPILER AND NOT CMAKE_CROSSCOMPILING)
  check_language(CUDA)
endif()
if(NOT CMAKE_CUDA_COMPILER)
  message(STATUS "engines/cuda is left out: no nvcc was found (CUDA Toolkit; or -DCMAKE_CUDA_COMPILER=)")
  return()
endif()

# Machine code for every architecture that this nvcc knows, and PTX of the newest for later ones.
execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code OUTPUT_VARIABLE codes RESULT_VARIABLE listed)
string(REGEX MATCHALL "sm_[0-9]+" codes "${codes}")
list(TRANSFORM codes REPLACE "sm_" "")
list(SORT codes COMPARE NATURAL)
list(REMOVE_DUPLICATES codes)
if(NOT listed EQUAL 0 OR NOT codes)
  message(STATUS "engines/cuda is left out: ${CMAKE_CUDA_COMPILER} does not list the code it can make")
  return()
endif()
list(GET codes -1 newest)
if(MINGW)
  include(windows/plugin.cmake)
  return()
endif()
# CMake's own compiler check compiles for these architectures too; one is enough there.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${newest})
endif()
set(CMAKE_CUDA_STANDARD 17)
if(CCACHE_PROGRAM)
  set(CMAKE_CUDA_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit)
find_path(ENGINEHOST_CUDNN_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_library(ENGINEHOST_CUDNN_LIBRARY cudnn HINTS "${CUDAToolkit_LIBRARY_DIR}" PATH_SUFFIXES lib lib64)
if(NOT TARGET CUDA::cudart OR NOT TARGET CUDA::cublasLt OR NOT ENGINEHOST_CUDNN_INCLUDE OR NOT ENGINEHOST_CUDNN_LIBRARY)
  message(STATUS "engines/cuda is left out: the CUDA runtime, cuBLASLt or cuDNN was not found beside ${CMAKE_CUDA_COMPILER}")
  return()
endif()
file(STRINGS "${ENGINEHOST_CUDNN_INCLUDE}/cudnn_version.h" cudnn_major REGEX "#define CUDNN_MAJOR ")
string(REGEX REPLACE "[^0-9]+" "" cudnn_major "${cudnn_major}")
if(NOT cudnn_major EQUAL 9)
  message(STATUS "engines/cuda is left out: it needs cuDNN 9, and ${ENGINEHOST_CUDNN_INCLUDE} has cuDNN ${cudnn_major}")
  return()
endif()

# The kernels are a library of their own, because nvcc does not know the warnings and sanitizers of the other
# files.
add_library(engine_cuda_kernels OBJECT kernels.cu)
list(TRANSFORM codes APPEND "-real" OUTPUT_VARIABLE architectures)
set_target_properties(engine_cuda_kernels PROPERTIES
  COMPILE_OPTIONS "-Xcompiler=-Wall,-Wextra;--threads=2"
  CUDA_ARCHITECTURES "${architectures};${newest}-virtual"
  CUDA_RUNTIME_LIBRARY None)
target_include_directories(engine_cuda_kernels PRIVATE "${PROJECT_SOURCE_DIR}")

# The form of host/binary's reader of GPU code: "sm_103" is 10.3.
list(TRANSFORM codes REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE code_names)
list(GET code_names -1 newest_name)
list(JOIN code_names " " code_names)
if(CUDAToolkit_VERSION_MAJOR EQUAL 11)
  set(folders cuda_runtime cublas cudnn)
else()
  set(folders "cu${CUDAToolkit_VERSION_MAJOR}" cudnn)
endif()
enginehost_cuda_plugin(cuda
  MAJOR ${CUDAToolkit_VERSION_MAJOR}
  CODE "sass ${code_names} ptx ${newest_name}"
  BUILT_BY "nvcc ${CMAKE_CUDA_COMPILER_VERSION}"
  KERNELS $<TARGET_OBJECTS:engine_cuda_kernels>
  INCLUDES ${CUDAToolkit_INCLUDE_DIRS} "${ENGINEHOST_CUDNN_INCLUDE}"
  LIBRARIES CUDA::cudart CUDA::cublasLt "${ENGINEHOST_CUDNN_LIBRARY}"
  FOLDERS ${folders})
get_filename_component(cudnn_folder "${ENGINEHOST_CUDNN_LIBRARY}" DIRECTORY)
set_target_properties(engine_cuda PROPERTIES ENGINEHOST_CUDA_FOLDERS "${CUDAToolkit_LIBRARY_DIR}:${cudnn_folder}")
