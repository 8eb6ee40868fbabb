#include "base/system_errors.hpp"

#include <cstring>

namespace enginehost {

std::string error_name(int error_number) {
  const char* name = strerrorname_np(error_number);
  return name != nullptr ? name : std::to_string(error_number);
}

std::string error_text(int error_number) {
  const char* text = strerrordesc_np(error_number);
  return text != nullptr ? text : "unknown error";
}

}  // namespace enginehost
