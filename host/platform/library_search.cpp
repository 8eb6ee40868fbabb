#include "host/platform/library_search.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::platform {
namespace {

// The first bytes of an ELF file say what loader may take it: class, byte order, machine.
bool suits_this_process(const std::string& file) {
  constexpr std::size_t head_size = 20, identity_size = 6, machine_at = 18;
  const auto head_of = [](const char* path, char(&head)[head_size]) {
    const FileDescriptor opened(::open(path, O_RDONLY | O_CLOEXEC));
    return opened.valid() && ::pread(opened.get(), head, sizeof head, 0) == static_cast<ssize_t>(sizeof head);
  };
  char own[head_size], other[head_size];
  if (!head_of(file.c_str(), other)) return false;
  if (!head_of("/proc/self/exe", own)) return true;
  return std::memcmp(own, other, identity_size) == 0 &&
         std::memcmp(own + machine_at, other + machine_at, 2) == 0;
}

}  // namespace

struct LibrarySearch::Order {
  linker::Machine machine;
};

LibrarySearch::LibrarySearch(const Root& root) : root_(root), order_(std::make_unique<Order>()) {
  linker::Machine& machine = order_->machine;
  machine = linker::describe_this_machine();
  if (root.is_this_machine()) {
    machine.loaded = linker::loaded_libraries();
    return;
  }
  // Another root has its own cache; the folders are compiled into the loader, which is taken to be like ours.
  const auto bytes = root.resolve(machine.cache_file)
                         ? read_file(root.on_disk(*root.resolve(machine.cache_file)))
                         : Result<std::string>(std::string());
  machine.cache = bytes ? linker::LoaderCache::parse(*bytes) : linker::LoaderCache();
}

LibrarySearch::~LibrarySearch() = default;

std::optional<FoundLibrary> LibrarySearch::find(const std::string& soname) const {
  const linker::Machine& machine = order_->machine;
  const auto take = [&](const std::string& path, const std::string& source) -> std::optional<FoundLibrary> {
    const auto real = root_.resolve(path);
    if (!real || !suits_this_process(root_.on_disk(*real).native())) return std::nullopt;
    return FoundLibrary{path, *real, source};
  };
  const auto look_in = [&](const std::string& folder,
                           const std::string& source) -> std::optional<FoundLibrary> {
    for (const std::string& level : machine.hwcaps)
      if (auto found = take(folder + "/glibc-hwcaps/" + level + "/" + soname, source)) return found;
    return take(folder + "/" + soname, source);
  };

  for (const linker::LoadedLibrary& library : machine.loaded)
    if (library.soname == soname)
      if (const auto real = root_.resolve(library.path.native()))
        return FoundLibrary{library.path.native(), *real, "loaded in this process"};
  for (const std::string& folder : machine.library_path)
    if (auto found = look_in(folder.empty() ? machine.current_directory.native() : folder, "LD_LIBRARY_PATH"))
      return found;
  if (const auto path =
          machine.cache.find(soname, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits))
    if (auto found = take(*path, machine.cache_file)) return found;
  for (const std::string& folder : machine.default_directories)
    if (auto found = look_in(folder, "default folder " + folder)) return found;
  return std::nullopt;
}

std::string LibrarySearch::places() const {
  const linker::Machine& machine = order_->machine;
  std::vector<std::string> names;
  if (!machine.library_path.empty()) names.push_back(machine.library_path_source);
  if (machine.libc == linker::Libc::glibc) names.push_back(machine.cache_file);
  names.insert(names.end(), machine.default_directories.begin(), machine.default_directories.end());
  return join(names, ", ");
}

}  // namespace enginehost::platform
