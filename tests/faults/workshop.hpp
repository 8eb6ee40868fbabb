// Makes small real libraries, whole and broken, in a folder of its own: every failure class is produced, not
// imitated.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace enginehost::faults {

// Compiles with the system's gcc. Failing to compile ends the test with the compiler's text (std::abort).
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
  // Any file.
  std::filesystem::path file(const std::string& name, const std::string& bytes) const;
  // Another compiler; nothing when it is not installed.
  std::filesystem::path library_with(const std::string& compiler, const std::string& name,
                                     const std::string& source, const std::string& flags) const;
  // Says of itself that it is for test::other_architecture (e_machine), which is all a loader looks at.
  void make_foreign(const std::filesystem::path& library) const;
  // The first `size` bytes only.
  std::filesystem::path cut(const std::filesystem::path& from, const std::string& name,
                            std::uintmax_t size) const;
  void remove(const std::filesystem::path& file) const { std::filesystem::remove(file); }

 private:
  std::filesystem::path folder_;
};

// Runs a shell command; its exit status (128 + n for a signal).
int shell(const std::string& command);
std::string quoted(const std::filesystem::path& path);

}  // namespace enginehost::faults
