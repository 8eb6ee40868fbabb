// One library opened by the system's loader, in the way that engines are: by its absolute path, everything
// resolved now, its symbols nobody else's.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "base/result.hpp"

namespace enginehost::load {

// Unloaded on destruction, unless stay() was called. For one thread at a time.
class OpenLibrary {
 public:
  OpenLibrary();
  OpenLibrary(OpenLibrary&&) noexcept;
  OpenLibrary& operator=(OpenLibrary&&) noexcept;
  ~OpenLibrary();

  // Fails with what the loader's text or number tells ("file", "os_said", on Windows "error_number"). What is
  // missing is told here and not by a dead process later. Constructors and DllMain run on this thread.
  static Result<OpenLibrary> open(const std::filesystem::path& file);

  bool is_open() const;
  // Of this library, or of what it needs: ask file_of_address. nullptr when there is none.
  void* symbol(const char* name) const;
  void unload();
  // It remains until the process ends: a plugin whose unloading is not tested may have threads asleep in its
  // code or have registered handlers.
  void stay();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The file of the library that this address lies in; empty when the loader does not know it.
std::string file_of_address(const void* address);

// The folders of a plugin and of what is opened before it, searched by the loader while this lives, where it
// can be told of such (AddDllDirectory); for later needs too, such as a library that is opened at its first
// use. Any thread.
class SearchFolders {
 public:
  SearchFolders() = default;
  SearchFolders(const std::filesystem::path& plugin, const std::vector<std::filesystem::path>& preload);
  SearchFolders(SearchFolders&&) noexcept;
  SearchFolders& operator=(SearchFolders&&) noexcept;
  ~SearchFolders();
  void stay();  // until the process ends

 private:
  std::vector<void*> reported_;
};

}  // namespace enginehost::load
