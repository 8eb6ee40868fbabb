#include "host/history/firsts.hpp"

#include <cstdint>
#include <cstdio>
#include <string>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/remove_tree.hpp"

namespace enginehost::history {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& state_folder, std::string_view digest) {
  return state_folder / "tried" / digest;
}

// A program's id holds a path; FNV-1a (64 bits) makes a file name of it.
fs::path file_of(const fs::path& state_folder, std::string_view digest, First first,
                 std::string_view program) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : program) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  char name[40];
  std::snprintf(name, sizeof name, "%016llx.%s", static_cast<unsigned long long>(hash),
                first == First::opening ? "opened" : "worked");
  return folder_of(state_folder, digest) / path_of(name);
}

}  // namespace

bool was_survived(const fs::path& state_folder, std::string_view digest, First first,
                  std::string_view program) {
  std::error_code error;
  return fs::exists(file_of(state_folder, digest, first, program), error);
}

void note_survived(const fs::path& state_folder, std::string_view digest, First first,
                   std::string_view program) {
  const fs::path file = file_of(state_folder, digest, first, program);
  if (make_folders(file.parent_path())) static_cast<void>(write_file(file, program, false));
}

void forget_survived(const fs::path& state_folder, std::string_view digest) {
  std::error_code error;
  if (!digest.empty()) remove_tree(folder_of(state_folder, digest), error);
}

}  // namespace enginehost::history
