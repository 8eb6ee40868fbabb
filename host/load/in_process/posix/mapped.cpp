#include <elf.h>
#include <link.h>

#include <cstring>

#include "base/paths.hpp"
#include "host/linker/this_linux.hpp"
#include "host/load/in_process/loaded.hpp"

namespace enginehost::load {
namespace {

// The program itself has an empty name; the object that the kernel adds has a name that is no path.
bool is_library(const dl_phdr_info* object) {
  return object->dlpi_name != nullptr &&
         (object->dlpi_name[0] == '/' || std::strchr(object->dlpi_name, '/') != nullptr);
}

// Returns the object's path. A relative name comes from a relative folder of LD_LIBRARY_PATH, and the current
// folder may have changed since. `room` then holds the path.
std::string_view path_of_object(const dl_phdr_info& object, std::string& room) {
  if (object.dlpi_name[0] == '/') return object.dlpi_name;
  room = linker::file_mapped_at(linker::first_address(object));
  return room.empty() ? std::string_view(object.dlpi_name) : std::string_view(room);
}

int collect(dl_phdr_info* object, std::size_t, void* into) {
  if (!is_library(object)) return 0;
  std::string room;
  static_cast<std::vector<Library>*>(into)->push_back(
      {linker::text_of_tag(*object, DT_SONAME), std::string(path_of_object(*object, room)), {}});
  return 0;
}

struct Since {
  const MappedPaths& before;
  std::uint64_t number = 0;  // of the next object
  std::vector<Library> came{};
};

int collect_new(dl_phdr_info* object, std::size_t size, void* into) {
  auto& since = *static_cast<Since*>(into);
  const MappedPaths::Numbers& then = since.before.numbers();
  // glibc appends new objects to its list.
  if (since.number++ < then.objects && object->dlpi_subs == then.unloaded) return 0;
  std::string room;
  if (!is_library(object) || since.before.has(path_of_object(*object, room))) return 0;
  return collect(object, size, &since.came);
}

}  // namespace

std::uint64_t loaded_so_far() {
  std::uint64_t count = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        *static_cast<std::uint64_t*>(into) = object->dlpi_adds;
        return 1;  // the first object already has the counts
      },
      &count);
  return count;
}

std::vector<std::filesystem::path> folders_of_environment() {
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : linker::library_path_folders_at_start())
    folders.push_back(path_of(folder));
  return folders;
}

std::vector<Library> mapped_libraries() {
  std::vector<Library> libraries;
  libraries.reserve(64);
  ::dl_iterate_phdr(&collect, &libraries);
  return libraries;
}

MappedPaths MappedPaths::now() {
  // Most paths lie in a system folder and are shorter than this. One allocation, because reallocating would
  // touch more pages.
  constexpr std::size_t usual_path = 40;
  MappedPaths paths;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* into) {
        auto& all = *static_cast<MappedPaths*>(into);
        if (all.numbers_.objects++ == 0) {
          all.numbers_.unloaded = object->dlpi_subs;
          all.text_.reserve((object->dlpi_adds - object->dlpi_subs) * usual_path);
        }
        std::string room;
        if (is_library(object)) all.add(path_of_object(*object, room));
        return 0;
      },
      &paths);
  return paths;
}

std::vector<Library> mapped_since(const MappedPaths& before) {
  Since since{before};
  ::dl_iterate_phdr(&collect_new, &since);
  return std::move(since.came);
}

}  // namespace enginehost::load
