// musl 1.2.3 ldso/dynlink.c: load_library, path_open, fixup_rpath, decode_dyn.
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/search.hpp"

namespace enginehost::linker {
namespace {

void add_folder(std::string folder, const Machine& machine, std::string_view rule, std::string_view owner,
                bool compiled_in, std::vector<SearchPlace>& places) {
  if (folder.front() != '/') folder = path_text(machine.current_directory / path_of(folder));
  places.push_back(
      {SearchPlace::Kind::folder, std::move(folder), std::string(rule), std::string(owner), compiled_in});
}

// fixup_rpath: $ORIGIN is the folder of the name that the library was opened by. A path with any other token
// is ignored, including its other elements.
std::optional<std::string> expand_origin(std::string_view text, std::string_view origin) {
  std::string out;
  while (true) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) return out;
    text.remove_prefix(dollar);
    // "$ORIGINAL" counts as "$ORIGIN" followed by "AL", because only the beginning is compared.
    if (text.starts_with("$ORIGIN"))
      text.remove_prefix(7);
    else if (text.starts_with("${ORIGIN}"))
      text.remove_prefix(9);
    else
      return std::nullopt;
    out += origin;
  }
}

}  // namespace

bool served_by_musl(std::string_view name) {
  if (!name.starts_with("lib")) return false;
  name.remove_prefix(3);
  for (std::string_view reserved : {"c.", "pthread.", "rt.", "m.", "dl.", "util.", "xnet."})
    if (name.starts_with(reserved)) return true;
  return false;
}

std::vector<SearchPlace> musl_places(const Machine& machine, const std::vector<Needer>& chain) {
  std::vector<SearchPlace> places;
  const std::string& variable = machine.library_path_source;
  for (std::string& folder : library_path_folders(machine))
    places.push_back({SearchPlace::Kind::folder, std::move(folder), variable, {}, false});
  for (const Needer& owner : chain) {
    if (owner.info == nullptr) continue;
    // decode_dyn: DT_RUNPATH replaces DT_RPATH; both are inherited.
    const bool runpath = owner.info->has_runpath;
    const std::size_t slash = owner.path.rfind('/');
    const std::string_view origin = slash == std::string_view::npos ? "." : owner.path.substr(0, slash);
    const std::string written = join(runpath ? owner.info->runpath : owner.info->rpath, ":");
    // With raised rights, the caller chooses the program's folder.
    if (owner.is_program && machine.secure && written.find('$') != std::string::npos) continue;
    if (const std::optional<std::string> path = expand_origin(written, origin))
      for (std::string& folder : split_musl_path(*path))
        add_folder(std::move(folder), machine, runpath ? "RUNPATH" : "RPATH", owner.path, false, places);
  }
  for (const std::string& folder : machine.default_directories)
    add_folder(folder, machine, "default", {}, true, places);
  return places;
}

}  // namespace enginehost::linker
