// Finds the file that the dynamic loader of this process would take for a name.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/platform/root.hpp"

namespace enginehost::platform {

struct FoundLibrary {
  std::string path;       // as the loader would open it
  std::string real_path;  // links followed; shows versions ("libcuda.so.535.104.05") and stubs
  std::string source;  // "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default folder /usr/lib", "in this process"
};

// The search order of one machine, read once. Refers to the Root, which must outlive it. Thread safety: const
// functions may be called from any thread.
class LibrarySearch {
 public:
  explicit LibrarySearch(const Root& root);
  ~LibrarySearch();
  LibrarySearch(const LibrarySearch&) = delete;
  LibrarySearch& operator=(const LibrarySearch&) = delete;

  // For a library that this process has loaded, returns that one, because its SONAME satisfies every later
  // need. Skips files of another architecture, as the loader does.
  std::optional<FoundLibrary> find(const std::string& soname) const;
  // Returns whether any file has that name in the folders of find(), even one that find() skips because the
  // loader would reject it.
  bool is_named(const std::string& soname) const;
  // The folders that find() searches, for facts that say "absent".
  std::string places() const;

 private:
  struct Order;
  const Root& root_;
  std::unique_ptr<Order> order_;
};

}  // namespace enginehost::platform
