// GCC's headers since 11 call std::__throw_bad_array_new_length (bits/new_allocator.h) where older ones
// called std::__throw_bad_alloc. libstdc++ has it since GLIBCXX_3.4.29, so that one name alone would keep a
// plugin off Ubuntu 20.04 and RHEL 8. Here is the plugin's own; exports.map keeps it inside.
#include <new>

namespace std {

// Declared by <bits/functexcept.h> as here, in every release that has it.
void __throw_bad_array_new_length() __attribute__((__noreturn__));
void __throw_bad_array_new_length() { throw bad_array_new_length(); }

}  // namespace std
