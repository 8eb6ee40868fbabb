// One library opened with the system's loader as engines need it: by absolute path, all symbols resolved at
// once, and its symbols visible to no other library.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace enginehost::load {

// Unloads the library on destruction, unless stay() was called. One thread at a time.
class OpenLibrary {
 public:
  OpenLibrary() = default;
  OpenLibrary(OpenLibrary&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  OpenLibrary& operator=(OpenLibrary&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~OpenLibrary() { unload(); }

  // Fails with the cause as far as the loader's text or number shows it ("file", "os_said", on Windows
  // "error_number"). A missing symbol fails here instead of ending the process later. Constructors and
  // DllMain run on this thread.
  static Result<OpenLibrary> open(const std::filesystem::path& file);

  bool is_open() const { return handle_ != nullptr; }
  // May lie in this library or in one that it needs: file_of_address() shows which. nullptr when there is
  // none.
  void* symbol(const char* name) const;
  void unload();
  // Keeps the library loaded until the process ends: a plugin whose unloading is not tested may have sleeping
  // threads in its code or registered handlers.
  void stay() { handle_ = nullptr; }

 private:
  void* handle_ = nullptr;
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
