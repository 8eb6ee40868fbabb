// Files and folders that a person names for a command to write.
//
// A link of this user or of root is followed, because that person placed it. A link of another user is
// refused, wherever it is in the path: in a folder that several users may write, it would lead the command
// into a file of this user's. No command writes into the file that has the name: it is replaced as a whole by
// write_file(), so a hard link changes nothing. On Windows every link is followed, because only
// administrators make them there.
#pragma once
#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace enginehost {

// Whether the owner of a file, as stat(2) reports it, is neither this user nor root. False on Windows.
bool is_another_user(unsigned owner);

// Error: EH-P40 ("program", "file", "link", "owner", "problem") for a path through a link of another user.
Result<void> refuse_foreign_links(const std::filesystem::path& path, std::string_view program);

// Returns the path to write for a file of this name: the regular file that a link leads to, or the name
// itself. Errors: those of refuse_foreign_links(); EH-P40 when something else has the name, such as a device,
// which a rename would replace.
Result<std::filesystem::path> place_for_file(const std::filesystem::path& file, std::string_view program);

}  // namespace enginehost
