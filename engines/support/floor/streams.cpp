// GCC's headers since 9 have default constructors of the string streams (GLIBCXX_3.4.26), and since 11 what
// C++20 added to their buffer (GLIBCXX_3.4.29).
#include <sstream>

template std::basic_istringstream<char>::basic_istringstream();
template std::basic_ostringstream<char>::basic_ostringstream();
template std::basic_stringstream<char>::basic_stringstream();
#if _GLIBCXX_USE_CXX11_ABI
template std::string std::basic_stringbuf<char>::str() &&;
#endif
