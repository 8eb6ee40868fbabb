#include <cstdlib>

#include "tests/platform/variable.hpp"

namespace enginehost::platform {

void Variable::set(const std::string& name, const char* value) {
  if (value != nullptr)
    ::setenv(name.c_str(), value, 1);
  else
    ::unsetenv(name.c_str());
}

}  // namespace enginehost::platform
