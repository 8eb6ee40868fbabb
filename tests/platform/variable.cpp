#include "tests/platform/variable.hpp"

#include "base/environment.hpp"

namespace enginehost::platform {

Variable::Variable(std::string name, const char* value)
    : name_(std::move(name)), before_(environment_variable(name_.c_str())) {
  set(name_, value);
}

Variable::~Variable() { set(name_, before_ ? before_->c_str() : nullptr); }

}  // namespace enginehost::platform
