// What is mapped into this process: where each library was really loaded from.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// How many objects have been loaded since the process began: while it stays, looking again shows nothing new.
// Any thread.
std::uint64_t loaded_so_far();

// Every shared object of the process, in load order, with its SONAME read from memory, without the program
// itself and the kernel's vDSO. Origins are not filled in. Any thread.
std::vector<Library> mapped_libraries();

// The paths of all of them at one moment: one text, since it is made at every open and looked into at few.
class MappedPaths {
 public:
  // As they are now. Any thread.
  static MappedPaths now();

  bool has(std::string_view path) const;
  // False where a look at the text is enough to say that none lies below the folder.
  bool may_lie_below(std::string_view folder) const;
  void add(std::string_view path) { text_.append(path).push_back('\0'); }
  // Each path between two zero bytes, in load order.
  std::string_view text() const { return text_; }

  // Where the loader numbers what it holds: how many objects that were, and how many had been unloaded since
  // the process began. While none was unloaded since, the first ones are still these.
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

// Those of mapped_libraries() that are not among `before`, and those that are. Any thread.
std::vector<Library> mapped_since(const MappedPaths& before);
std::vector<Library> mapped_then(const MappedPaths& before);

// Where the environment lets libraries be found: the folders that the loader makes of LD_LIBRARY_PATH as this
// process was started with it (of DYLD_LIBRARY_PATH on macOS); on Windows those of PATH, without Windows'
// own. Any thread.
std::vector<std::filesystem::path> folders_of_environment();

// Fills in where each came from: below the view ("cache"), a folder of LD_LIBRARY_PATH or a file of
// LD_PRELOAD
// ("environment"), or the system.
void find_sources(std::vector<Library>& libraries, const std::filesystem::path& view);

// True for what LD_PRELOAD names, by path or by file name.
bool is_preloaded_by_environment(const std::filesystem::path& library);

// EH-L11 for each file of `wanted` (name: absolute path) for which the process holds another file of that
// SONAME.
std::vector<Diagnosis> substituted(const std::vector<Library>& loaded,
                                   const std::vector<std::filesystem::path>& wanted);

}  // namespace enginehost::load
