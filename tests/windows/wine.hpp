// Wine's loader as a reference: trees of real DLLs, a program that loads one of them, and the loader's
// answer. Wine is not Windows. Its search follows the same pages; tests name the known differences.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "host/linker/windows.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::test {

// The output of load_library.c and of Wine's own log.
struct WineAnswer {
  bool loaded = false;
  std::uint32_t error = 0;           // GetLastError of LoadLibraryExW
  std::string function;              // "found", or the error's number
  std::string called;                // "returned N" or "exception 0xN"
  std::vector<std::string> modules;  // paths in lower case, in load order
  std::set<std::string> not_found;   // "name <- path of the needer", in lower case; its own root causes only
  std::map<std::string, std::vector<std::string>> searched;  // name -> folders in order, in lower case
  std::string said;                                          // the whole output, for messages
};

class Wine : public Workshop {
 protected:
  // Describes a machine like the one that the program sees: C: is the prefix, Z: is this machine's root.
  void SetUp() override;

  // A path below folder() as Windows writes it.
  std::string windows_path(const std::string& name) const;
  // A DLL below folder() ("engine/a.dll") that calls f_STEM of each of `needs`, which lie there too, and
  // exports its own. `body` is inserted before it.
  std::filesystem::path dll(const std::string& name, const std::vector<std::string>& needs = {},
                            const std::string& body = {}) const;
  // The DLL's bytes with another machine in the header, and a whole DLL for 32-bit x86.
  static std::string for_arm64(std::string bytes);
  std::string for_i386() const;

  // Loads folder()/`file` as the described machine says (PATH, AddDllDirectory, ...). `more` are further
  // arguments of load_library.c, `launcher` is put before wine.
  WineAnswer load(const std::string& file, std::uint32_t flags, const std::vector<std::string>& more = {},
                  const std::vector<std::string>& launcher = {}) const;
  linker::WindowsClosure close_over(const std::string& file, std::uint32_t flags,
                                    const std::vector<std::string>& preloaded = {});

  linker::WindowsMachine machine_;
  linker::Reader reader_;
};

// The folders of the prefix that stand for those of Windows.
std::filesystem::path wine_system_folder();
std::filesystem::path wine_windows_folder();

}  // namespace enginehost::test
