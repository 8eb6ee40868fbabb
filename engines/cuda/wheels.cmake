# The plugins for CUDA 11.8 and 13.0 without a toolkit, from parts of NVIDIA's wheels: a folder of fetch_parts.py for
# each. NVRTC compiles the kernels. CUDA 11.8's own toolkit no longer installs on today's systems, and its nvcc needs
# an older gcc.

# enginehost_cuda_wheels(FOLDER)
function(enginehost_cuda_wheels root)
  set(parts "${root}/nvidia")
  file(GLOB includes "${parts}/*/include")
  file(GLOB runtime "${parts}/*/lib/libcudart.so.*")
  file(GLOB cudnn "${parts}/*/lib/libcudnn.so.9")
  file(GLOB nvrtc "${parts}/*/lib/libnvrtc.so.*")
  file(GLOB fatbinary "${parts}/*/bin/fatbinary")
  foreach(part IN ITEMS runtime cudnn nvrtc fatbinary)
    list(LENGTH ${part} found)
    if(NOT found EQUAL 1 OR NOT EXISTS "${root}/release.json")
      message(STATUS "engines/cuda is left out for ${root}, which is no folder of engines/cuda/fetch_parts.py")
      return()
    endif()
  endforeach()
  file(READ "${root}/release.json" release)
  string(JSON version GET "${release}" cuda)
  string(JSON count LENGTH "${release}" code)
  math(EXPR last "${count} - 1")
  set(codes)
  foreach(i RANGE ${last})
    string(JSON code GET "${release}" code ${i})
    list(APPEND codes ${code})
  endforeach()
  string(REGEX REPLACE "\\..*" "" major "${version}")
  set(name "cuda_${major}")
  if(TARGET engine_cuda)
    get_target_property(of_toolkit engine_cuda ENGINEHOST_PLUGIN_OF)
    if(of_toolkit STREQUAL "cuda-${major}")
      message(STATUS "engines/cuda takes the toolkit for CUDA ${major}, not ${root}")
      return()
    endif()
  endif()

  set(device_code "${CMAKE_CURRENT_BINARY_DIR}/cuda-${major}/kernels.fatbin")
  add_custom_command(OUTPUT "${device_code}"
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/compile_kernels.py" --nvrtc "${nvrtc}" --fatbinary "${fatbinary}"
      --root "${PROJECT_SOURCE_DIR}" --output "${device_code}" "${CMAKE_CURRENT_SOURCE_DIR}/kernels.cu" ${codes}
    DEPENDS compile_kernels.py kernels.cu kernels.hpp "${root}/release.json"
    COMMENT "Compiling the kernels for CUDA ${version}" VERBATIM)

  # A library to link with in the place of cuBLASLt, which is 0.5 GB: it has the functions that the plugin calls, with
  # the version that the real one gives all of its functions, and no code.
  set(stand_in "${CMAKE_CURRENT_BINARY_DIR}/cuda-${major}/cublasLt")
  file(STRINGS windows/cublasLt64_13.def functions REGEX "^  cublasLt")
  list(TRANSFORM functions REPLACE "^  (.+)$" "FUNCTION(\\1)")
  list(JOIN functions "\n" functions)
  file(CONFIGURE OUTPUT "${stand_in}.c" @ONLY
    CONTENT "#define FUNCTION(name) void name(void) { __builtin_trap(); }\n${functions}\n")
  file(CONFIGURE OUTPUT "${stand_in}.map" CONTENT "libcublasLt.so.${major} { global: *; };\n" @ONLY)
  add_library(${name}_cublasLt SHARED "${stand_in}.c")
  set_target_properties(${name}_cublasLt PROPERTIES OUTPUT_NAME cublasLt C_VISIBILITY_PRESET default SOVERSION ${major}
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/cuda-${major}")
  target_link_options(${name}_cublasLt PRIVATE "LINKER:--version-script=${stand_in}.map")

  list(TRANSFORM codes REPLACE "(.)$" ".\\1" OUTPUT_VARIABLE code_names)
  list(GET code_names -1 newest)
  list(JOIN code_names " " code_names)
  set(folders "cu${major}" cudnn)
  if(major EQUAL 11)
    set(folders cuda_runtime cublas cudnn)
  endif()
  enginehost_cuda_plugin(${name}
    MAJOR ${major}
    CODE "sass ${code_names} ptx ${newest}"
    BUILT_BY "NVRTC ${version}"
    DEVICE_CODE "${device_code}"
    INCLUDES ${includes}
    LIBRARIES "${runtime}" "${cudnn}" ${name}_cublasLt
    FOLDERS ${folders})
  enginehost_map_paths(engine_${name} "${root}=cuda-${version}")
  get_filename_component(runtime_folder "${runtime}" DIRECTORY)
  get_filename_component(cudnn_folder "${cudnn}" DIRECTORY)
  set_target_properties(engine_${name} PROPERTIES OUTPUT_NAME engine_cuda ENGINEHOST_CUDA_STAND_IN ON
    LIBRARY_OUTPUT_DIRECTORY "${ENGINEHOST_PLUGIN_OUTPUT_DIRECTORY}/cuda-${major}"
    ENGINEHOST_CUDA_FOLDERS "${runtime_folder}:${cudnn_folder}:${CMAKE_CURRENT_BINARY_DIR}/cuda-${major}")
endfunction()
