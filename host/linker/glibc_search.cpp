#include <string_view>

#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

void add_elements(const Machine& machine, const std::vector<std::string>& elements, const Needer& owner,
                  const char* tag, std::vector<SearchPlace>& places) {
  // decompose_rpath: an empty path counts as no path.
  if (elements.size() == 1 && elements.front().empty()) return;
  const Speaker speaker{folder_of_file(owner.path), owner.is_program};
  for (const std::string& element : elements)
    if (std::string folder = folder_of_element(machine, element, speaker); !folder.empty())
      places.push_back({SearchPlace::Kind::folder, std::move(folder), tag, std::string(owner.path), false});
}

}  // namespace

std::string SearchPlace::why() const {
  return owner.empty() ? rule : rule + " of " + owner.substr(owner.rfind('/') + 1);
}

std::string SearchPlace::found_by() const { return owner.empty() ? rule : rule + " of " + owner; }

std::vector<SearchPlace> glibc_own_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<SearchPlace> places;
  const binary::BinaryInfo* needer = chain.empty() ? nullptr : chain.front().info;
  const bool has_runpath = needer != nullptr && needer->has_runpath;
  if (!has_runpath)
    for (const Needer& owner : chain)
      // A library's RPATH is ignored if it has a RUNPATH (elf/get-dynamic-info.h).
      if (owner.info != nullptr && owner.info->has_rpath && !owner.info->has_runpath)
        add_elements(machine, owner.info->rpath, owner, "RPATH", places);
  const std::string& variable = machine.library_path_source;
  for (std::string& folder : library_path_folders(machine))
    places.push_back({SearchPlace::Kind::folder, std::move(folder), variable, {}, false});
  if (has_runpath) add_elements(machine, needer->runpath, chain.front(), "RUNPATH", places);
  return places;
}

std::vector<SearchPlace> glibc_shared_places(const Machine& machine) {
  std::vector<SearchPlace> places;
  if (!machine.cache.empty())
    places.push_back({SearchPlace::Kind::cache, machine.cache_file, "ld.so.cache", {}, false});
  for (const std::string& folder : machine.default_directories)
    places.push_back({SearchPlace::Kind::folder, folder, "default", {}, true});
  return places;
}

}  // namespace enginehost::linker
