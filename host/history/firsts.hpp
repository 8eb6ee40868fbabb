// What a program has done with a proven build and survived: it needs no sentinel for that any more. Empty
// files in <state>/tried/<digest>/, so that the warm path asks with one stat.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::history {

enum class First { opening, work };

// The file that tells it.
std::string file_of_first(const std::filesystem::path& state_folder, std::string_view digest, First first,
                          std::string_view program);
bool was_survived(const std::filesystem::path& state_folder, std::string_view digest, First first,
                  std::string_view program);
// Where it cannot be written, the program's next process raises its sentinel again.
void note_survived(const std::filesystem::path& state_folder, std::string_view digest, First first,
                   std::string_view program);
// For every program: the build was proven again, after something had changed.
void forget_survived(const std::filesystem::path& state_folder, std::string_view digest);

}  // namespace enginehost::history
