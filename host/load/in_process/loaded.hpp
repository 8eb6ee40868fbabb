// The libraries that are mapped into this process, and where each was really loaded from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
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

// Check after loading that each library of the build came from the build.

// True for the driver's own libraries, which must come from the system and not from a build: libcuda,
// libnvidia-*, those of WSL and of Windows' DriverStore.
bool belongs_to_the_driver(const std::filesystem::path& library);

// Returns one diagnosis for each library of the build in whose place another file serves: "library", "path"
// (the file that serves), "wanted" (the build's file), "by" (how it came: "LD_PRELOAD", "LD_LIBRARY_PATH",
// "the process had it before", "the loader's search"). EH-L17 for a copy that was in the process `before`,
// EH-L11 otherwise.
//
// The build's libraries are those of `own` (SONAME and absolute path) and, for a library that came from
// elsewhere, a file of its name in one of `own_folders`. The file of a SONAME that was loaded first serves
// all later needs, so a build's own copy loaded after it changes nothing. The same file under another name
// and a copy with the same bytes are no finding. A library from a folder of LD_LIBRARY_PATH that replaces no
// library of the build is EH-L11 with "from_environment".
//
// `came`: the libraries of the process now, or those of them that are not in `before`, in load order. Their
// origins are needed only with `own_folders`.
//
// Thread safety: any thread.
std::vector<Diagnosis> hijacked(const std::vector<Library>& own,
                                const std::vector<std::filesystem::path>& own_folders,
                                const std::vector<Library>& came, const std::vector<Library>& before);

// True for the same file and for files with the same bytes.
bool same_content(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace enginehost::load
