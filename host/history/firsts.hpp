// Which first steps a program has survived with a proven build, so that it needs no sentinel for them any
// more. Empty files in <state>/tried/<digest>/: the warm path needs one access() call.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::history {

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
