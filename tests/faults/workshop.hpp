// Makes small real libraries, whole and broken, in its own folder, so that every failure class really occurs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace enginehost::faults {

// Compiles with the system's gcc. A compilation error ends the test with the compiler's text (std::abort).
class Workshop {
 public:
  Workshop();
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  // A shared library from C text, at `name` below the folder; `flags` go to gcc's command line as they are.
  std::filesystem::path library(const std::string& name, const std::string& source,
                                const std::string& flags = {}) const;
  std::filesystem::path cxx_library(const std::string& name, const std::string& source,
                                    const std::string& flags = {}) const;
  // tests/faults/plugin.c.
  std::filesystem::path plugin(const std::string& name, const std::string& flags = {}) const;
  // A file with those bytes.
  std::filesystem::path file(const std::string& name, const std::string& bytes) const;
  // Compiles with another compiler; nothing when it is not installed.
  std::filesystem::path library_with(const std::string& compiler, const std::string& name,
                                     const std::string& source, const std::string& flags) const;
  // Sets e_machine to test::other_architecture, which is all that a loader checks.
  void make_foreign(const std::filesystem::path& library) const;
  // A copy of the first `size` bytes.
  std::filesystem::path cut(const std::filesystem::path& from, const std::string& name,
                            std::uintmax_t size) const;
  void remove(const std::filesystem::path& file) const { std::filesystem::remove(file); }

 private:
  std::filesystem::path folder_;
};

// Runs a shell command and returns its exit status (128 + n for a signal).
int shell(const std::string& command);
std::string quoted(const std::filesystem::path& path);

}  // namespace enginehost::faults
