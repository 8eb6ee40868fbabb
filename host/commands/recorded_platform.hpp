// Reads the machine of --platform FILE, as engine-info --platform-json writes it.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::commands {

// Errors: EH-P47, EH-M01, EH-M02, marked as being about an argument.
Result<platform::Platform> recorded_platform(const std::string& file);

}  // namespace enginehost::commands
