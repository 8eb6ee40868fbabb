// An environment variable, set (or, with nullptr, unset) during a test.
#pragma once
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::platform {

class Variable {
 public:
  Variable(std::string name, const char* value)
      : name_(std::move(name)), before_(environment_variable(name_.c_str())) {
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value != nullptr)
      test::set_variable(name_.c_str(), value);
    else
      test::remove_variable(name_.c_str());
  }
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace enginehost::platform
