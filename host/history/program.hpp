// Identifies this program and the current start of the machine, so that a stale sentinel can be attributed,
// and records what a program has survived.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::history {

// Returns the path and build id of the running program (on Windows time stamp and size of its image). A
// program without a build id is identified by its path, size and time. Another release of an application is
// another program. Read once. Any thread.
const std::string& program_id();

// Returns the part that distinguishes releases, wherever they are installed; empty if the program was linked
// without one. Reads no file. Any thread.
std::string program_build_id();

// Returns boot_id() of base/process.hpp; empty where there is none. Read once. Any thread.
const std::string& boot_id();

// Which first steps a program has survived with a proven build, so that it needs no sentinel for them any
// more. Empty files in <state>/tried/<digest>/: the warm path needs one access() call.
enum class First { opening, work };

// Returns the file that records it.
std::string file_of_first(const std::filesystem::path& state_folder, std::string_view digest, First first,
                          std::string_view program);
bool was_survived(const std::filesystem::path& state_folder, std::string_view digest, First first,
                  std::string_view program);
// If it cannot be written, the program's next process raises its sentinel again.
void note_survived(const std::filesystem::path& state_folder, std::string_view digest, First first,
                   std::string_view program);
// Removes the record for every program, because the build was proven again after a change.
void forget_survived(const std::filesystem::path& state_folder, std::string_view digest);

}  // namespace enginehost::history
