#include "host/platform/parts.hpp"

#include <algorithm>
#include <cstring>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::platform {
namespace {

constexpr std::size_t head_size = 4096, header_offset_at = 0x3c, machine_after = 4;

// Returns the machine of a PE file; nothing for other files.
std::optional<std::uint16_t> machine_of(const std::string& head) {
  std::uint32_t header = 0;
  if (head.size() < header_offset_at + sizeof header || !head.starts_with("MZ")) return std::nullopt;
  std::memcpy(&header, head.data() + header_offset_at, sizeof header);
  std::uint16_t machine = 0;
  if (header > head.size() - machine_after - sizeof machine || head.compare(header, 4, "PE\0\0", 4) != 0)
    return std::nullopt;
  std::memcpy(&machine, head.data() + header + machine_after, sizeof machine);
  return machine;
}

bool suits_this_process(const std::string& head) {
#if defined(__x86_64__) || defined(_M_X64)
  constexpr std::uint16_t own = 0x8664;
#elif defined(__aarch64__) || defined(_M_ARM64)
  constexpr std::uint16_t own = 0xaa64;
#else
  constexpr std::uint16_t own = 0x014c;
#endif
  return machine_of(head) == own;
}

}  // namespace

struct LibrarySearch::Order {
  struct Folder {
    std::string path, source;
  };
  std::vector<Folder> folders;
  std::vector<linker::LoadedLibrary> loaded;
};

LibrarySearch::LibrarySearch(const Root& root) : root_(root), order_(std::make_unique<Order>()) {
  const linker::WindowsMachine machine = linker::describe_this_windows();
  const auto add = [&](const std::string& folder, const std::string& source) {
    const bool seen = std::any_of(order_->folders.begin(), order_->folders.end(), [&](const auto& known) {
      return to_lower(known.path) == to_lower(folder);
    });
    if (!folder.empty() && !seen && root.is_folder(folder)) order_->folders.push_back({folder, source});
  };
  if (root.is_this_machine()) {
    order_->loaded = machine.loaded;
    add(machine.application_directory, "the program's folder");
  }
  add(machine.system_directory, "System32");
  add(machine.windows_directory, "the Windows folder");
  for (std::string folder : machine.path) {
    while (folder.size() > 3 && (folder.back() == '\\' || folder.back() == '/')) folder.pop_back();
    add(folder, "PATH");
  }
}

LibrarySearch::~LibrarySearch() = default;

std::optional<FoundLibrary> LibrarySearch::find(const std::string& soname,
                                                std::vector<SkippedFile>* skipped) const {
  const std::string wanted = to_lower(soname);
  for (const linker::LoadedLibrary& library : order_->loaded)
    if (to_lower(library.soname) == wanted) {
      const std::string path = path_text(library.path);
      return FoundLibrary{path, root_.resolve(path).value_or(path), "loaded in this process"};
    }
  for (const Order::Folder& folder : order_->folders) {
    const std::string path = folder.path + (folder.path.back() == '\\' ? "" : "\\") + soname;
    const std::string head = root_.read_start(path, head_size);
    if (!suits_this_process(head)) {
      if (skipped != nullptr && root_.exists(path))
        skipped->push_back({path, head.empty() ? empty_library : "is no library for this process",
                            folder.source, false, head.empty()});
      continue;
    }
    return FoundLibrary{path, root_.resolve(path).value_or(path), folder.source};
  }
  return std::nullopt;
}

bool LibrarySearch::is_named(const std::string& soname) const {
  return std::any_of(order_->folders.begin(), order_->folders.end(), [&](const Order::Folder& folder) {
    return root_.exists(folder.path + (folder.path.back() == '\\' ? "" : "\\") + soname);
  });
}

std::string LibrarySearch::places() const { return "the program's folder, System32, PATH"; }

}  // namespace enginehost::platform
