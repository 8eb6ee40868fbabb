#include "tests/support/variables.hpp"

#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::test {

// Sets the C runtime's copy and the system's, because libraries read either.
void set_variable(const char* name, const std::string& value) {
  ::_wputenv_s(windows::wide(name).c_str(), windows::wide(value).c_str());
  ::SetEnvironmentVariableW(windows::wide(name).c_str(), windows::wide(value).c_str());
}
void remove_variable(const char* name) {
  ::_wputenv_s(windows::wide(name).c_str(), L"");
  ::SetEnvironmentVariableW(windows::wide(name).c_str(), nullptr);
}

}  // namespace enginehost::test
