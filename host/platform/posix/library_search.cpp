#include "host/platform/parts.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/search.hpp"

namespace enginehost::platform {
namespace {

// The first bytes of an ELF file show which loader accepts it: class, byte order, machine.
bool suits_this_process(const std::string& file) {
  constexpr std::size_t head_size = 20, identity_size = 6, machine_at = 18;
  using Head = std::array<char, head_size>;
  const auto head_of = [](const char* path) -> std::optional<Head> {
    Head head;
    const FileDescriptor opened(::open(path, O_RDONLY | O_CLOEXEC));
    if (!opened.valid() || ::pread(opened.get(), head.data(), head_size, 0) != ssize_t{head_size})
      return std::nullopt;
    return head;
  };
  static const auto& own = *new std::optional<Head>(head_of("/proc/self/exe"));
  const auto other = head_of(file.c_str());
  if (!other || !own) return other.has_value();
  return std::memcmp(own->data(), other->data(), identity_size) == 0 &&
         std::memcmp(own->data() + machine_at, other->data() + machine_at, 2) == 0;
}

// A stand-in offers a library's functions and does nothing, so it is not that library (binary::BinaryInfo).
bool is_stand_in(const std::filesystem::path& file) {
  const auto info = binary::read_binary(file);
  return info && info->stand_in;
}

// A library that is opened by name has no needer with a RUNPATH. Only the program's own path and the variable
// come before the cache.
std::vector<linker::SearchPlace> places_before_cache(const linker::Machine& machine) {
  std::vector<linker::Needer> chain(1);
  std::optional<binary::BinaryInfo> program;
  if (!machine.program.empty())
    if (auto read = binary::read_binary(machine.program)) program = std::move(*read);
  if (program) chain.push_back({machine.program.native(), &*program, true});
  if (machine.libc == linker::Libc::glibc) return linker::glibc_own_places(machine, chain);
  std::vector<linker::SearchPlace> places = linker::musl_places(machine, chain);
  std::erase_if(places, [](const linker::SearchPlace& place) { return place.compiled_in; });
  return places;
}

}  // namespace

struct LibrarySearch::Order {
  struct Folder {
    std::string path, source;
  };
  linker::Machine machine;
  std::vector<Folder> before_cache, after_cache;  // those that exist, their glibc-hwcaps folders before them
};

LibrarySearch::LibrarySearch(const Root& root) : root_(root), order_(std::make_unique<Order>()) {
  linker::Machine& machine = order_->machine;
  machine = linker::describe_this_machine();
  if (root.is_this_machine()) {
    machine.loaded = linker::loaded_libraries();
  } else {
    // Another root has its own cache. The loader's built-in folders are assumed to be the same as here.
    const auto file = root.resolve(machine.cache_file);
    auto bytes = file ? read_file(root.on_disk(*file)) : Result<std::string>(std::string());
    machine.cache = bytes ? linker::LoaderCache::parse(std::move(*bytes)) : linker::LoaderCache();
    machine.program.clear();  // the program does not run there
  }
  // /lib is /usr/lib on most systems; one folder is searched once.
  std::vector<std::pair<dev_t, ino_t>> seen;
  const auto add = [&](std::vector<Order::Folder>& folders, const std::string& folder,
                       const std::string& source) {
    struct stat status {};
    const auto real = root.is_this_machine() ? std::optional(folder) : root.resolve(folder);
    if (!real || ::stat(root.on_disk(*real).c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return;
    const std::pair<dev_t, ino_t> identity(status.st_dev, status.st_ino);
    if (std::find(seen.begin(), seen.end(), identity) != seen.end()) return;
    seen.push_back(identity);
    if (root.is_folder(folder + "/glibc-hwcaps"))
      for (const std::string& level : machine.hwcaps)
        folders.push_back({folder + "/glibc-hwcaps/" + level, source});
    folders.push_back({folder, source});
  };
  for (const linker::SearchPlace& place : places_before_cache(machine))
    add(order_->before_cache, place.directory, place.why());
  for (const std::string& folder : machine.default_directories)
    add(order_->after_cache, folder, "default folder " + folder);
}

LibrarySearch::~LibrarySearch() = default;

std::optional<FoundLibrary> LibrarySearch::find(const std::string& soname,
                                                std::vector<SkippedFile>* skipped) const {
  const linker::Machine& machine = order_->machine;
  bool is_over = false;
  const auto take = [&](const std::string& path, const std::string& source) -> std::optional<FoundLibrary> {
    if (is_over) return std::nullopt;
    const auto real = root_.resolve(path);
    if (real && suits_this_process(root_.on_disk(*real).native())) {
      if (is_stand_in(root_.on_disk(*real))) return std::nullopt;
      return FoundLibrary{path, *real, source};
    }
    if (auto reason = why_unusable(path)) {
      is_over = reason->ends_search;
      reason->source = source;
      if (skipped != nullptr) skipped->push_back(std::move(*reason));
    }
    return std::nullopt;
  };
  const auto look_in = [&](const std::vector<Order::Folder>& folders) -> std::optional<FoundLibrary> {
    for (const Order::Folder& folder : folders)
      if (auto found = take(folder.path + "/" + soname, folder.source)) return found;
    return std::nullopt;
  };

  for (const linker::LoadedLibrary& library : machine.loaded)
    if (library.soname == soname)
      if (const auto real = root_.resolve(library.path.native()); real && !is_stand_in(root_.on_disk(*real)))
        return FoundLibrary{library.path.native(), *real, "loaded in this process"};
  if (auto found = look_in(order_->before_cache)) return found;
  if (const auto path =
          machine.cache.find(soname, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits))
    if (auto found = take(*path, machine.cache_file)) return found;
  return look_in(order_->after_cache);
}

std::optional<SkippedFile> LibrarySearch::why_unusable(const std::string& path) const {
  const auto real = root_.resolve(path);
  if (!real) {
    std::error_code error;
    if (!std::filesystem::is_symlink(root_.on_disk(path), error)) return std::nullopt;
    return SkippedFile{path, "is a link to a file that does not exist", {}, false, false};
  }
  const auto read = binary::read_binary(root_.on_disk(*real));
  if (!read) {
    const Diagnosis& why = read.error();
    if (binary::no_such_file(why)) return std::nullopt;
    // glibc continues its search after a file that may not be read (elf/dl-load.c, open_path).
    if (why.code == Code::library_not_readable)
      return SkippedFile{
          path, "cannot be read (" + std::string(why.value(Key::os_said)) + ")", {}, false, false};
    return SkippedFile{path, "is no library (" + linker::short_reason(why) + ")", {}, true, false};
  }
  const auto refusal = linker::refusal_of(order_->machine, *read, path, false);
  if (!refusal) return std::nullopt;
  if (refusal->diagnosis.code == Code::file_empty) return SkippedFile{path, empty_library, {}, true, true};
  return SkippedFile{path, "is no library for this process: " + refusal->why, {}, refusal->fatal, false};
}

bool LibrarySearch::is_named(const std::string& soname) const {
  const linker::Machine& machine = order_->machine;
  for (const auto* folders : {&order_->before_cache, &order_->after_cache})
    for (const Order::Folder& folder : *folders)
      if (root_.exists(folder.path + "/" + soname)) return true;
  const auto path =
      machine.cache.find(soname, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits);
  return path && root_.exists(*path);
}

std::string LibrarySearch::places() const {
  const linker::Machine& machine = order_->machine;
  std::vector<std::string> names;
  for (const Order::Folder& folder : order_->before_cache)
    if (std::find(names.begin(), names.end(), folder.source) == names.end()) names.push_back(folder.source);
  if (machine.libc == linker::Libc::glibc) names.push_back(machine.cache_file);
  names.insert(names.end(), machine.default_directories.begin(), machine.default_directories.end());
  return join(names, ", ");
}

}  // namespace enginehost::platform
