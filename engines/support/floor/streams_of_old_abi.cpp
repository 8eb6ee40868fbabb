// The same for the C++ ABI before C++11's, which older releases of libtorch use.
#define _GLIBCXX_USE_CXX11_ABI 0
#include "engines/support/floor/streams.cpp"
