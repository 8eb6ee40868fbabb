// The system's side of opening a library. Only for open_library.cpp.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

#include "base/result.hpp"

namespace enginehost::load {

// Calls the system's loader once, and returns whether the library is open. `flags` are added to the call:
// Boost.DLL has no names for some of Windows' flags. `error` gets what Boost.DLL reports: on Windows the
// number, elsewhere the same for every failure.
using LoaderCall =
    std::function<bool(const std::filesystem::path& file, unsigned flags, std::error_code& error)>;

// Make the call in the form that the system needs, and fail with the cause that the system gives for it.
// `file` is absolute, `name` is a bare name.
Result<void> open_file(const std::filesystem::path& file, const LoaderCall& call);
Result<void> open_name(const std::string& name, const LoaderCall& call);

// Returns the file of an open library; "" if the loader does not know it. `handle` is that of the system.
std::string file_of_handle(void* handle);

}  // namespace enginehost::load
