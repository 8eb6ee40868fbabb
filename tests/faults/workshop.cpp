#include "tests/faults/workshop.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/files.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::faults {
namespace {

constexpr const char* usual = "-shared -fPIC -O1 -w ";

void must(const std::string& command) {
  if (shell(command) == 0) return;
  std::fprintf(stderr, "fixture could not be made: %s\n", command.c_str());
  std::abort();
}

}  // namespace

int shell(const std::string& command) {
  const int status = std::system(command.c_str());
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : -1;
}

std::string quoted(const std::filesystem::path& path) {
  std::string text = "'";
  for (const char c : path.native()) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

Workshop::Workshop() {
  auto folder = make_private_folder(std::filesystem::temp_directory_path(), "enginehost-faults-");
  if (!folder) std::abort();
  folder_ = std::filesystem::canonical(*folder);
}

Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path Workshop::file(const std::string& name, const std::string& bytes) const {
  const std::filesystem::path file = path(name);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

std::filesystem::path Workshop::library(const std::string& name, const std::string& source,
                                        const std::string& flags) const {
  const std::filesystem::path text = file(name + ".c", source);
  must("gcc " + std::string(usual) + " -o " + quoted(path(name)) + " " + quoted(text) + " " + flags);
  remove(text);
  return path(name);
}

std::filesystem::path Workshop::cxx_library(const std::string& name, const std::string& source,
                                            const std::string& flags) const {
  const std::filesystem::path text = file(name + ".cpp", source);
  must("g++ " + std::string(usual) + " -o " + quoted(path(name)) + " " + quoted(text) + " " + flags);
  remove(text);
  return path(name);
}

std::filesystem::path Workshop::library_with(const std::string& compiler, const std::string& name,
                                             const std::string& source, const std::string& flags) const {
  if (shell("command -v " + compiler + " >/dev/null 2>&1") != 0) return {};
  const std::filesystem::path text = file(name + ".c", source);
  const int status = shell(compiler + " " + usual + " -o " + quoted(path(name)) + " " + quoted(text) + " " +
                           flags + " >/dev/null 2>&1");
  remove(text);
  return status == 0 ? path(name) : std::filesystem::path();
}

std::filesystem::path Workshop::plugin(const std::string& name, const std::string& flags) const {
  std::filesystem::create_directories(path(name).parent_path());
  must("gcc " + std::string(usual) + " -I" + test::source_path("/plugin-api/include -o ") +
       quoted(path(name)) + " " + test::source_path("/tests/faults/plugin.c ") + flags);
  return path(name);
}

void Workshop::make_foreign(const std::filesystem::path& library) const {
  std::fstream bytes(library, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(18);
  bytes.put(test::other_machine);
}

std::filesystem::path Workshop::cut(const std::filesystem::path& from, const std::string& name,
                                    std::uintmax_t size) const {
  std::filesystem::create_directories(path(name).parent_path());
  std::filesystem::copy_file(from, path(name), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path(name), size);
  return path(name);
}

}  // namespace enginehost::faults
