#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

std::vector<std::string> folders_of(const Machine& machine, const std::vector<std::string>& elements) {
  std::vector<std::string> folders;
  if (elements.empty()) return folders;  // the usual case; asked for each library
  // _dl_init_paths expands the variable for the main map. musl's path_open expands no tokens and skips empty
  // elements.
  const bool glibc = machine.libc == Libc::glibc;
  const std::string program = path_text(machine.program);
  const Speaker speaker{program.empty() ? std::string_view() : folder_of_file(program), true};
  for (const std::string& element : elements) {
    std::string folder;
    if (glibc)
      folder = folder_of_element(machine, element, speaker);
    else if (!element.empty())
      folder = element.front() == '/' ? element : path_text(machine.current_directory / path_of(element));
    if (!folder.empty()) folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

std::vector<std::string> split_library_path(std::string_view text) {
  std::string unified(text);
  for (char& c : unified)
    if (c == ';') c = ':';
  return unified.empty() ? std::vector<std::string>{} : split(unified, ':');
}

std::vector<std::string> split_musl_path(std::string_view text) {
  std::vector<std::string> folders;
  for (const std::string& line : split(text, '\n'))
    for (std::string& folder : split(line, ':'))
      if (!folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

std::vector<std::string> musl_default_directories(const std::optional<std::string>& path_file) {
  return split_musl_path(path_file ? *path_file : std::string("/lib:/usr/local/lib:/usr/lib"));
}

std::vector<std::string> glibc_hwcaps_of_x86_64(std::string_view libc_version, std::uint32_t isa) {
  std::vector<std::string> folders;
  if (!libc_version.empty() && compare_versions(libc_version, "2.33") < 0) return folders;
  if ((isa & 8) != 0) folders.emplace_back("x86-64-v4");
  if ((isa & 4) != 0) folders.emplace_back("x86-64-v3");
  if ((isa & 2) != 0) folders.emplace_back("x86-64-v2");
  return folders;
}

std::vector<std::string> library_path_folders(const Machine& machine) {
  return machine.secure ? std::vector<std::string>() : folders_of(machine, machine.library_path);
}

std::vector<std::string> library_path_folders(const Machine& machine, std::string_view text) {
  return folders_of(machine, machine.libc == Libc::musl ? split_musl_path(text) : split_library_path(text));
}

}  // namespace enginehost::linker
