// The reason why a file could not be opened: the component of its path that is missing, broken or closed to
// this user.
#pragma once
#include <filesystem>

#include "base/diagnosis.hpp"

namespace enginehost::binary {

// Checks the path again, component by component, because errno does not name the failing one.
Diagnosis why_not_opened(const std::filesystem::path& file, int error_number);

}  // namespace enginehost::binary
