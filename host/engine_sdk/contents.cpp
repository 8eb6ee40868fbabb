#include "host/engine_sdk/contents.hpp"

#include <map>
#include <utility>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::engine_sdk {
namespace {

bool is_library(std::string_view name) {
  return matches_pattern(name, "*.so") || matches_pattern(name, "*.so.*");
}

// Libraries of a wheel find each other by their own folder, so one folder serves all.
std::string place_of(const std::string& path, const std::string& component, const Package& package) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!package.headers_in_archive.empty() && path.starts_with(package.headers_in_archive))
    return "include/" + path.substr(package.headers_in_archive.size());
  if (is_library(name)) return "lib/" + name;
  return "licenses/" + component + "/" + path;
}

// The names by which a linker and a loader look for a library whose file has a longer one: "libfoo.so" and
// its SONAME.
void add_links(const Library& library, Contents& contents, std::map<std::string, std::string>& taken) {
  if (library.soname.empty() || library.soname == library.file) return;
  const std::string plain = library.file.substr(0, library.file.find(".so") + 3);
  for (const std::string& name : {library.soname, plain})
    if (taken.emplace("lib/" + name, library.file).second)
      contents.links.push_back({"lib/" + name, library.file});
}

}  // namespace

Result<Contents> contents_of(const manifest::Build& parts, const std::vector<std::string>& trees,
                             const cache::Store& store, const Package& package,
                             const std::string& cxx11_abi) {
  Contents contents;
  std::map<std::string, std::string> taken;  // path in the folder -> path in the archive
  std::vector<Library> libraries;
  const auto components = parts.all_components();
  for (std::size_t i = 0; i < trees.size() && i < components.size(); ++i) {
    cache::Installed in_store;
    in_store.layer = store.root();
    TRY_ASSIGN(cache::TreeList list, store.list_of(in_store, trees[i]));
    const std::filesystem::path tree = cache::Store::tree_folder(store.root(), trees[i]);
    for (cache::TreeEntry& entry : list.entries) {
      if (entry.kind == cache::TreeEntry::Kind::link) continue;  // no selected file of a wheel is one
      std::string path = place_of(entry.path, components[i]->id, package);
      if (const auto [known, fresh] = taken.emplace(path, entry.path); !fresh)
        return fail(diagnose(Code::components_collide)
                        .with(Key::path, path)
                        .with(Key::first, known->second)
                        .with(Key::second, entry.path));
      std::filesystem::path from = tree / path_of(entry.path);
      if (path.starts_with("lib/")) {
        const auto read = binary::read_binary(from);
        libraries.push_back({path.substr(4), read ? read->soname : std::string()});
      }
      contents.copied.push_back({std::move(from), std::move(path), std::move(entry)});
    }
  }
  for (const Library& library : libraries) add_links(library, contents, taken);
  contents.generated = generated_files(package, parts.version, libraries, cxx11_abi);
  return contents;
}

}  // namespace enginehost::engine_sdk
