if(NOT TARGET Boost::headers)
  add_library(Boost::headers INTERFACE IMPORTED)
  # Boost.DLL is headers only with the standard library's paths.
  target_compile_definitions(Boost::headers INTERFACE BOOST_DLL_USE_STD_FS)
endif()
set(Boost_FOUND TRUE)
