// One library opened with the system's loader as engines need it: all symbols resolved at once, and its
// symbols visible to no other library.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::load {

// Unloads the library on destruction, unless stay() was called. One thread at a time.
//
// Both openings fail with the cause as far as the loader's text or number shows it ("file", "os_said", on
// Windows "error_number"). A missing symbol fails there instead of ending the process later. Constructors and
// DllMain run on this thread.
class OpenLibrary {
 public:
  // Opens the file of an absolute path. EH-F11 for any other path, EH-F10 for the file of this program.
  static Result<OpenLibrary> at(const std::filesystem::path& file);
  // Opens a library by the name that the system knows it by ("libcuda.so.1"), from the folders that the
  // system's loader searches and never from the current folder. On Windows only System32 is searched. EH-F11
  // for a path.
  static Result<OpenLibrary> of_the_system(const std::string& name);

  bool is_open() const { return opened_ != nullptr; }
  // May lie in this library or in one that it needs: file_of_address() shows which. nullptr when there is
  // none.
  void* symbol(const char* name) const;
  // Returns the function of that name, or nullptr.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  // Returns the file that was mapped, symbolic links resolved where the system resolves them; "" if unknown.
  std::string file() const;
  void unload() { opened_.reset(); }
  // Keeps the library loaded until the process ends, also after this object: a plugin whose unloading is not
  // tested may have sleeping threads in its code or registered handlers.
  void stay();

 private:
  struct Opened;
  struct Close {
    void operator()(Opened* opened) const;
  };
  std::unique_ptr<Opened, Close> opened_;
};

// Returns the file of the library that contains this address; empty when the loader does not know it.
std::string file_of_address(const void* address);

// Adds the folders of a plugin and of its preloads to the loader's search while the object lives, where the
// system supports it (AddDllDirectory). The folders also serve later needs, such as a library that is opened
// at its first use. Any thread.
struct AddedFolders;
struct RemoveFolders {
  void operator()(AddedFolders* added) const;
};
using SearchFolders = std::unique_ptr<AddedFolders, RemoveFolders>;
SearchFolders search_folders(const std::filesystem::path& plugin,
                             const std::vector<std::filesystem::path>& preload);

// Only on Windows. Explains why `file` was not opened. The loader's number only shows that something is
// missing, too long or forbidden; the files show which, searched as this process does with `added_folders`
// (AddDllDirectory). The diagnosis always has "file", "error_number" and, where Windows has a text for it,
// "os_said". Reads files and loads nothing. Any thread.
Diagnosis diagnose_load_error(const std::filesystem::path& file, std::uint32_t error,
                              std::vector<std::string> added_folders = {});

}  // namespace enginehost::load
