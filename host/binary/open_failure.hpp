// Why a file could not be opened: which component of its path is missing, broken or closed to this user.
#pragma once
#include <filesystem>

#include "base/diagnosis.hpp"

namespace enginehost::binary {

// Looks at the path again, component by component, because errno names none of them.
Diagnosis why_not_opened(const std::filesystem::path& file, int error_number);

}  // namespace enginehost::binary
