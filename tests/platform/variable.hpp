// A variable of the environment, set (or, with nullptr, not set) for the length of a test.
#pragma once
#include <optional>
#include <string>

namespace enginehost::platform {

class Variable {
 public:
  Variable(std::string name, const char* value);
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable();

 private:
  static void set(const std::string& name, const char* value);
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace enginehost::platform
