#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

void add_folder(const std::string& folder, const std::string& why, const std::string& found_by,
                bool compiled_in, std::vector<Place>& places) {
  if (!folder.empty()) places.push_back({Place::Kind::folder, folder, why, found_by, compiled_in});
}

}  // namespace

bool served_by_musl(std::string_view name) {
  if (name.substr(0, 3) != "lib") return false;
  name.remove_prefix(3);
  for (std::string_view reserved : {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."})
    if (name.substr(0, reserved.size()) == reserved) return true;
  return false;
}

std::vector<Place> musl_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<Place> places;
  if (!machine.secure)
    for (const std::string& folder : machine.library_path)
      add_folder(folder, machine.library_path_source, machine.library_path_source, false, places);
  for (const Needer& owner : chain) {
    if (owner.info == nullptr) continue;
    // decode_dyn: DT_RPATH is taken first, DT_RUNPATH replaces it.
    const bool runpath = owner.info->has_runpath;
    const std::string tag = runpath ? "RUNPATH of " : "RPATH of ";
    const std::size_t slash = owner.path.rfind('/');
    const std::string origin = slash == std::string::npos ? "." : owner.path.substr(0, slash);
    const std::string name = owner.path.substr(slash + 1);
    for (const std::string& element : runpath ? owner.info->runpath : owner.info->rpath) {
      // fixup_rpath knows $ORIGIN only; a path with any other token is not used at all.
      Machine tokens;
      std::string folder = expand_tokens(tokens, element, origin);
      add_folder(folder, tag + name, tag + owner.path, false, places);
    }
  }
  for (const std::string& folder : machine.default_directories)
    add_folder(folder, "default", "default", true, places);
  return places;
}

}  // namespace enginehost::linker
