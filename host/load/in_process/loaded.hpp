// The libraries that are mapped into this process, and where each was really loaded from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// Returns how many objects have been loaded since the process began. While the number is unchanged, listing
// again shows nothing new. Any thread.
std::uint64_t loaded_so_far();

// Returns every shared object of the process in load order, with its SONAME read from memory. The program
// itself and the kernel's vDSO are left out, and origins are not filled in. Any thread.
std::vector<Library> mapped_libraries();

// The paths of all mapped libraries at one moment. Stored as one text, because every open creates one and few
// are searched.
class MappedPaths {
 public:
  // Lists the current paths. Any thread.
  static MappedPaths now();

  bool has(std::string_view path) const;
  // False when a text search already shows that no path lies below the folder.
  bool may_lie_below(std::string_view folder) const;
  void add(std::string_view path) { text_.append(path).push_back('\0'); }
  // All paths in load order, each between two zero bytes.
  std::string_view text() const { return text_; }

  // On systems whose loader numbers its objects: how many there were, and how many had been unloaded since
  // the process began. While `unloaded` is unchanged, the first `objects` are the same ones.
  struct Numbers {
    std::uint64_t objects = 0, unloaded = 0;
  };
  const Numbers& numbers() const { return numbers_; }

 private:
  template <class Predicate>
  bool any_of(Predicate predicate) const {
    for (std::string_view rest = text().substr(1); !rest.empty();) {
      const std::size_t end = rest.find('\0');
      if (predicate(rest.substr(0, end))) return true;
      rest.remove_prefix(end + 1);
    }
    return false;
  }
  std::string text_ = std::string(1, '\0');
  Numbers numbers_;
};

// Return the mapped_libraries() that are not in `before`, and those that are. Any thread.
std::vector<Library> mapped_since(const MappedPaths& before);
std::vector<Library> mapped_then(const MappedPaths& before);

// Returns the folders from which the environment lets libraries be found: LD_LIBRARY_PATH as the loader read
// it when this process started (DYLD_LIBRARY_PATH on macOS); on Windows the folders of PATH without Windows'
// own. Any thread.
std::vector<std::filesystem::path> folders_of_environment();

// Fills in where each came from: below the view ("cache"), a folder of LD_LIBRARY_PATH or a file of
// LD_PRELOAD ("environment"), or the system.
void find_sources(std::vector<Library>& libraries, const std::filesystem::path& view);

// True for a library that LD_PRELOAD names by path or by file name.
bool is_preloaded_by_environment(const std::filesystem::path& library);

// EH-L11 for each file of `wanted` (absolute path) for whose SONAME the process holds another file.
std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted);

}  // namespace enginehost::load
