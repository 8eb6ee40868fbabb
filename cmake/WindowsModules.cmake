# The modules of the Windows build, from the lowest up. A module is listed once all of it compiles and its tests run.
add_subdirectory(base)
add_subdirectory(plugin-api)
add_subdirectory(cache)
add_subdirectory(engines)
foreach(module binary linker platform settings transfer oci manifest installations history resolve acquire preflight explain
             load open offline publish sdk commands)
  add_subdirectory(host/${module})
endforeach()
add_subdirectory(manifests)
if(ENGINEHOST_TESTS)
  foreach(module support base cache binary linker platform settings transfer manifest installations history resolve preflight
               explain load engines oci acquire offline publish open sdk end-to-end)
    add_subdirectory(tests/${module})
  endforeach()
endif()
