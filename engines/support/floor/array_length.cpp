// GCC's headers since 11 call std::__throw_bad_array_new_length (bits/new_allocator.h) where older ones
// called std::__throw_bad_alloc. libstdc++ exports it since GLIBCXX_3.4.29.
#include <new>

namespace std {

// Declared as in <bits/functexcept.h> of every release that has it.
void __throw_bad_array_new_length() __attribute__((__noreturn__));
void __throw_bad_array_new_length() { throw bad_array_new_length(); }

}  // namespace std
