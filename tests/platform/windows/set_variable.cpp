#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "tests/platform/variable.hpp"

namespace enginehost::platform {

void Variable::set(const std::string& name, const char* value) {
  ::SetEnvironmentVariableW(windows::wide(name).c_str(),
                            value != nullptr ? windows::wide(value).c_str() : nullptr);
}

}  // namespace enginehost::platform
