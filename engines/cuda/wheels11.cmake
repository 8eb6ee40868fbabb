# The plugin for CUDA 11.8, built from NVIDIA's wheels alone: its toolkit no longer installs on today's
# systems, and its nvcc needs an older gcc. clang compiles the kernels, NVIDIA's ptxas makes machine code, and
# the fatbinary of any newer toolkit joins them. -DENGINEHOST_CUDA11_ROOT= names the folder that this command
# made:
#   pip install --no-deps --target FOLDER nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-nvcc-cu11==11.8.89
#     nvidia-cublas-cu11==11.11.3.6 nvidia-cudnn-cu11==9.10.2.21
set(ENGINEHOST_CUDA11_ROOT "" CACHE PATH "Folder with NVIDIA's wheels of CUDA 11.8 to compile engines/cuda for cu118")
if(NOT ENGINEHOST_CUDA11_ROOT)
  return()
endif()
set(wheels "${ENGINEHOST_CUDA11_ROOT}/nvidia")
find_program(ENGINEHOST_CUDA11_CLANG NAMES clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19)
find_program(ENGINEHOST_FATBINARY fatbinary HINTS "${CUDAToolkit_BIN_DIR}" /usr/local/cuda/bin)
set(libraries "${wheels}/cuda_runtime/lib/libcudart.so.11.0" "${wheels}/cublas/lib/libcublasLt.so.11"
  "${wheels}/cudnn/lib/libcudnn.so.9")
foreach(file IN ITEMS ${libraries} "${wheels}/cuda_nvcc/bin/ptxas" "${ENGINEHOST_CUDA11_CLANG}" "${ENGINEHOST_FATBINARY}")
  if(NOT EXISTS "${file}")
    message(STATUS "engines/cuda is left out for CUDA 11: there is no ${file}")
    return()
  endif()
endforeach()

# The folders of a toolkit in the layout that clang expects.
set(root "${CMAKE_CURRENT_BINARY_DIR}/cuda11")
file(MAKE_DIRECTORY "${root}/bin")
file(CREATE_LINK "${wheels}/cuda_nvcc/bin/ptxas" "${root}/bin/ptxas" SYMBOLIC)
file(CREATE_LINK "${wheels}/cuda_nvcc/nvvm" "${root}/nvvm" SYMBOLIC)
file(CREATE_LINK "${wheels}/cuda_runtime/include" "${root}/include" SYMBOLIC)
file(CREATE_LINK "${wheels}/cuda_runtime/lib" "${root}/lib64" SYMBOLIC)  # without it clang does not recognize a toolkit
configure_file(fatbinary.sh.in "${root}/bin/fatbinary" @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# The architectures that both clang 14 and CUDA 11.8 know. cuDNN for CUDA 11 has no PTX at all, so cards after
# 9.0 are unsupported anyway; the PTX here serves 9.0.
set(codes 50 60 61 70 75 80 86)
list(GET codes -1 newest)
list(TRANSFORM codes PREPEND "--cuda-gpu-arch=sm_" OUTPUT_VARIABLE architectures)
set(kernels "${CMAKE_CURRENT_BINARY_DIR}/kernels11.o")
add_custom_command(OUTPUT "${kernels}"
  COMMAND "${ENGINEHOST_CUDA11_CLANG}" -x cuda -std=c++17 -O2 -fPIC "--cuda-path=${root}" ${architectures}
    --no-cuda-include-ptx=all "--cuda-include-ptx=sm_${newest}" -Wall -Wextra -Wno-unknown-cuda-version
    "-I${PROJECT_SOURCE_DIR}" -isystem "${root}/include" -isystem "${wheels}/cuda_nvcc/include"
    -c "${CMAKE_CURRENT_SOURCE_DIR}/kernels.cu" -o "${kernels}"
  DEPENDS kernels.cu kernels.hpp "${root}/bin/fatbinary"
  COMMENT "Compiling the kernels for CUDA 11.8" VERBATIM)

list(TRANSFORM codes REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE code_names)
list(GET code_names -1 newest_name)
list(JOIN code_names " " code_names)
enginehost_cuda_plugin(cuda_11
  MAJOR 11
  CODE "sass ${code_names} ptx ${newest_name}"
  BUILT_BY "clang and ptxas 11.8"
  KERNELS "${kernels}"
  INCLUDES "${wheels}/cuda_runtime/include" "${wheels}/cuda_nvcc/include" "${wheels}/cublas/include" "${wheels}/cudnn/include"
  LIBRARIES ${libraries}
  FOLDERS cuda_runtime cublas cudnn)
set_target_properties(engine_cuda_11 PROPERTIES
  OUTPUT_NAME engine_cuda LIBRARY_OUTPUT_DIRECTORY "${ENGINEHOST_PLUGIN_OUTPUT_DIRECTORY}/cuda-11"
  ENGINEHOST_CUDA_FOLDERS "${wheels}/cuda_runtime/lib:${wheels}/cublas/lib:${wheels}/cudnn/lib")
