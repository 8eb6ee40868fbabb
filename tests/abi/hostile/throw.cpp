#include <stdexcept>

extern "C" void hostile_throw() { throw std::runtime_error("thrown across the border"); }
