// Which file the dynamic loader of this process would take for a name.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/platform/root.hpp"

namespace enginehost::platform {

struct FoundLibrary {
  std::string path;       // as the loader would open it
  std::string real_path;  // links followed; tells versions ("libcuda.so.535.104.05") and stubs
  std::string source;  // "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default folder /usr/lib", "in this process"
};

// Holds the search order of one machine, read once. Const use from any thread; refers to the Root, which must
// live on.
class LibrarySearch {
 public:
  explicit LibrarySearch(const Root& root);
  ~LibrarySearch();
  LibrarySearch(const LibrarySearch&) = delete;
  LibrarySearch& operator=(const LibrarySearch&) = delete;

  // For a library that this process holds already that one: its SONAME serves every later need. Files of
  // another architecture are passed over as the loader does.
  std::optional<FoundLibrary> find(const std::string& soname) const;
  // Whether anything has that name where find() looks, be it a file that the loader will stumble over: find()
  // passes over what it does not take.
  bool is_named(const std::string& soname) const;
  // Where find() looks, for facts that say "absent".
  std::string places() const;

 private:
  struct Order;
  const Root& root_;
  std::unique_ptr<Order> order_;
};

}  // namespace enginehost::platform
