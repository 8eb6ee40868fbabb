// The folder of an SDK: what is there, and how it is written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "host/engine_sdk/contents.hpp"

namespace enginehost::engine_sdk {

// In every SDK: what it is of, and its files with size and SHA-256.
inline constexpr std::string_view list_name = "enginehost-sdk.json";

struct FolderSize {
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

// Returns the folder where an SDK will be, with links resolved and no name "." or "..".
std::filesystem::path place_of_folder(const std::filesystem::path& folder);

// Returns nothing if the folder is absent or empty. Returns its size if it holds an SDK whose list begins
// with the members of `identity`, after each file was compared with its digest. Errors: EH-R24 ("folder",
// "holds") for other content, EH-R24 ("folder", "changed") if a file differs from the list; EH-P10.
Result<std::optional<FolderSize>> sdk_in(const std::filesystem::path& folder, const Json& identity,
                                         const std::optional<CancelToken>& cancel);

// Writes the files beside the folder, compares each with its digest and renames the whole. What an earlier
// run that was killed left there is removed; the caller excludes others. Errors: EH-F15, EH-F16, EH-F17 of
// the disk; EH-F08 for a file that is not as its tree says; EH-R24 if something else came to be in the
// folder; EH-P10.
Result<FolderSize> write_folder(const std::filesystem::path& folder, const Contents& contents, Json identity,
                                const std::optional<CancelToken>& cancel);

}  // namespace enginehost::engine_sdk
