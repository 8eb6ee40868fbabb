#include "host/history/program.hpp"

#include <cstdint>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/process.hpp"

namespace enginehost::history {
namespace {

namespace fs = std::filesystem;

std::string read_program_id() {
  const std::string path = executable_path();
  if (const std::string id = program_build_id(); !id.empty()) return path + " " + id;
  const auto stamp = stamp_of(path_of(path));
  return stamp ? path + " " + std::to_string(stamp->size) + "." + std::to_string(stamp->modified_ns) : path;
}

}  // namespace

const std::string& program_id() {
  static const std::string& id = *new std::string(read_program_id());
  return id;
}

const std::string& boot_id() {
  static const std::string& id = *new std::string(enginehost::boot_id());
  return id;
}

// The program's id contains a path, so its FNV-1a hash (64 bits) is the file name.
std::string file_of_first(const fs::path& state_folder, std::string_view digest, First first,
                          std::string_view program) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : program) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  // Without printf: this runs at every open, where printf's first use costs more than the access() call.
  static constexpr char digits[] = "0123456789abcdef";
  std::string file = text_below(state_folder, {"tried", digest, ""});
  for (int shift = 60; shift >= 0; shift -= 4) file.push_back(digits[(hash >> shift) & 15]);
  return file.append(first == First::opening ? ".opened" : ".worked");
}

bool was_survived(const fs::path& state_folder, std::string_view digest, First first,
                  std::string_view program) {
  return calls::access(file_of_first(state_folder, digest, first, program), F_OK) == 0;
}

void note_survived(const fs::path& state_folder, std::string_view digest, First first,
                   std::string_view program) {
  const fs::path file = path_of(file_of_first(state_folder, digest, first, program));
  if (make_folders(file.parent_path())) static_cast<void>(write_file(file, program, false));
}

void forget_survived(const fs::path& state_folder, std::string_view digest) {
  std::error_code error;
  if (!digest.empty()) remove_tree(state_folder / "tried" / digest, error);
}

}  // namespace enginehost::history
