#include "host/platform/library_search.hpp"

#include "base/paths.hpp"
#include "host/linker/dyld.hpp"

namespace enginehost::platform {

struct LibrarySearch::Order {
  linker::AppleMachine machine;
};

LibrarySearch::LibrarySearch(const Root& root) : root_(root), order_(std::make_unique<Order>()) {
  order_->machine = linker::describe_this_mac();
  if (!root.is_this_machine()) order_->machine.loaded.clear();
}

LibrarySearch::~LibrarySearch() = default;

// dlopen(3) searches a name without a folder in DYLD_LIBRARY_PATH and, since macOS 12, in the system's
// folders only. Libraries in the shared cache have no file and are not found.
std::optional<FoundLibrary> LibrarySearch::find(const std::string& soname) const {
  for (const linker::LoadedLibrary& library : order_->machine.loaded)
    if (path_text(library.path.filename()) == soname) {
      const std::string path = path_text(library.path);
      return FoundLibrary{path, root_.resolve(path).value_or(path), "loaded in this process"};
    }
  for (const std::string& folder : order_->machine.library_path.value_or(std::vector<std::string>{})) {
    const std::string path = folder + "/" + soname;
    if (const auto real = root_.resolve(path)) return FoundLibrary{path, *real, "DYLD_LIBRARY_PATH"};
  }
  return std::nullopt;
}

bool LibrarySearch::is_named(const std::string& soname) const { return find(soname).has_value(); }

std::string LibrarySearch::places() const { return "this process, DYLD_LIBRARY_PATH"; }

}  // namespace enginehost::platform
