# The plugins and stand-ins that this build compiles, as arguments of pack_repository.py: in the variable plugin_arguments, and
# one a line in plugins.txt of the build folder, for repositories of other builds (ENGINEHOST_OTHER_PLUGINS).
get_property(plugins GLOBAL PROPERTY ENGINEHOST_PLUGINS)
if(ENGINEHOST_SANITIZE)
  set(plugins reference)  # the only one that tests under a sanitizer open; the others' headers take minutes to compile
endif()
set(plugin_arguments)
set(plugin_targets)
foreach(plugin IN LISTS plugins)
  get_target_property(name engine_${plugin} ENGINEHOST_PLUGIN_OF)  # set where one folder makes plugins for several releases
  if(NOT name)
    set(name "${plugin}")
  endif()
  list(APPEND plugin_arguments --plugin "${name}=$<TARGET_FILE:engine_${plugin}>")
  list(APPEND plugin_targets engine_${plugin})
endforeach()
get_property(stand_ins GLOBAL PROPERTY ENGINEHOST_STAND_INS)
foreach(stand_in IN LISTS stand_ins)
  list(APPEND plugin_arguments --stand-in "$<TARGET_FILE:stand_in_${stand_in}>")
  list(APPEND plugin_targets stand_in_${stand_in})
endforeach()
add_custom_target(enginehost_plugins DEPENDS ${plugin_targets})
list(JOIN plugin_arguments "\n" lines)
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/plugins.txt" CONTENT "${lines}\n")
