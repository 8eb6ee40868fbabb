#include "tools/publish/artifact_facts.hpp"

#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/acquire/unpack.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

// Earlier formats are read as well, and earlier versions can read this one, because members were only added.
constexpr int format_with_paths = 2;

// "GLIBC_2.34" raises `newest` of its family.
void raise(std::string& newest, std::string_view version, std::string_view family) {
  if (!version.starts_with(family)) return;
  version.remove_prefix(family.size());
  if (version.empty() || version.front() < '0' || version.front() > '9') return;
  if (newest.empty() || compare_versions(version, newest) > 0) newest = version;
}

// GNU_PROPERTY_X86_ISA_1_NEEDED: one bit per level, from the baseline up (x86-64 psABI, "Program Property").
std::int64_t level_of(std::uint32_t isa_needed) {
  for (const int level : {4, 3, 2})
    if ((isa_needed & (1u << (level - 1))) != 0) return level;
  return 0;
}

// The namespaces of libtorch as beginnings of symbol names (manifests/pack_repository.py has the same list).
constexpr std::string_view libtorch_names[] = {"_ZN3c10", "_ZNK3c10",  "_ZN2at",
                                               "_ZNK2at", "_ZN5torch", "_ZNK5torch"};

// Considers libtorch's own symbols only, because a library may contain parts of libstdc++ with symbols of
// both ABIs.
Result<std::string> cxx11_abi_of(const fs::path& file) {
  TRY_ASSIGN(const binary::SymbolTable symbols, binary::read_symbols(file));
  std::string abi;
  for (const binary::Symbol& one : symbols.imports) {
    const bool of_libtorch = std::any_of(std::begin(libtorch_names), std::end(libtorch_names),
                                         [&](std::string_view begin) { return one.name.starts_with(begin); });
    if (!of_libtorch) continue;
    if (one.name.find("__cxx11") != std::string::npos) return std::string("1");
    abi = "0";
  }
  return abi;
}

// Returns whether every loader of this system searches the folder for any name.
bool is_default_folder(std::string_view folder) {
  constexpr std::string_view usual[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};
  // "/usr/lib/x86_64-linux-gnu"
  const std::size_t slash = folder.rfind('/');
  if (folder.substr(slash).find("-linux-") != std::string_view::npos) folder = folder.substr(0, slash);
  return std::find(std::begin(usual), std::end(usual), folder) != std::end(usual);
}

// Considers absolute folders, which are most likely those where the library was linked; "$ORIGIN/…" is in the
// build.
std::vector<std::pair<std::string, std::string>> found_by_own_path(const binary::BinaryInfo& info) {
  std::vector<std::pair<std::string, std::string>> found;
  if (info.kind != binary::Kind::elf) return found;
  std::error_code error;
  for (const std::string& name : info.needed)
    for (const std::string& element : info.has_runpath ? info.runpath : info.rpath) {
      if (name.empty() || name.find('/') != std::string::npos || !element.starts_with('/') ||
          element.find('$') != std::string::npos)
        continue;
      const std::string folder = plain_location(element);
      if (is_default_folder(folder) || !fs::exists(path_of(folder) / path_of(name), error)) continue;
      found.emplace_back(name, folder);
      break;
    }
  return found;
}

Result<LibraryFacts> facts_of(const fs::path& file, std::string path, const binary::BinaryInfo& info) {
  LibraryFacts facts;
  facts.path = std::move(path);
  facts.kind = binary::name_of(info.kind);
  facts.machine = info.machine;
  facts.soname = info.soname;
  facts.needed = info.needed;
  if (info.has_rpath || (info.kind == binary::Kind::macho && !info.rpath.empty())) facts.rpath = info.rpath;
  if (info.has_runpath) facts.runpath = info.runpath;
  facts.dependent_load_flags = info.pe.dependent_load_flags;
  facts.found_by_own_path = found_by_own_path(info);
  facts.minimum_os = info.kind == binary::Kind::macho ? info.minimum_os : "";
  facts.isa = level_of(info.isa_needed);
  for (const binary::VersionNeed& need : info.version_needs) {
    if (need.weak) continue;
    raise(facts.glibc, need.version, "GLIBC_");
    raise(facts.glibcxx, need.version, "GLIBCXX_");
    raise(facts.cxxabi, need.version, "CXXABI_");
  }
  TRY_ASSIGN(const binary::GpuCode code, binary::gpu_code(file));
  for (const binary::GpuCode::Entry& entry : code.entries)
    (entry.kind == "ptx" ? facts.ptx : facts.sass).push_back(entry.arch);
  facts.gpu_code_incomplete = !code.note.empty();
  const auto header = binary::read_plugin_header(file);
  facts.stand_in = info.stand_in;
  facts.plugin = header && header->state == binary::PluginHeader::State::found;
  if (facts.plugin) facts.plugin_texts = binary::read_plugin_texts(file);
  if (facts.plugin && info.kind == binary::Kind::elf) {
    TRY_ASSIGN(facts.cxx11_abi, cxx11_abi_of(file));
  }
  return facts;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& element : list.as_array()) texts.push_back(element.as_string());
  return texts;
}

}  // namespace

bool ArtifactFacts::has_file(std::string_view view_path) const {
  return std::find(files.begin(), files.end(), view_path) != files.end();
}

Result<ArtifactFacts> facts_of_tree(cache::TreeList list, const fs::path& root, std::string unpacked_as) {
  ArtifactFacts facts;
  facts.tree = list.id();
  facts.unpacked_as = std::move(unpacked_as);
  facts.reports_paths = true;
  for (const cache::TreeEntry& one : list.entries) {
    facts.files.push_back(one.path);
    if (one.kind == cache::TreeEntry::Kind::link) {
      facts.links.emplace(one.path, one.identity);
      continue;
    }
    const fs::path path = root / path_of(one.path);
    const auto info = binary::read_binary(path);
    const bool is_library = info && info->kind != binary::Kind::unknown && info->problems.empty();
    if (!is_library) continue;
    TRY_ASSIGN(LibraryFacts library, facts_of(path, one.path, *info));
    facts.libraries.push_back(std::move(library));
  }
  std::sort(facts.files.begin(), facts.files.end());
  std::sort(facts.libraries.begin(), facts.libraries.end(),
            [](const LibraryFacts& a, const LibraryFacts& b) { return a.path < b.path; });
  facts.entries = std::move(list.entries);
  return facts;
}

Result<ArtifactFacts> look_into(const manifest::Artifact& artifact, const fs::path& archive,
                                const fs::path& scratch) {
  std::error_code error;
  remove_tree(scratch, error);
  TRY(make_folders(scratch));
  // Copies the archive because the reader needs its own file.
  const fs::path copy = scratch / "archive";
  TRY(write_copy(archive, copy));
  TRY_ASSIGN(const auto file, acquire::GrowingFile::open(copy, scratch));
  file->complete();
  const fs::path root = scratch / "tree";
  TRY_ASSIGN(auto tree, acquire::unpack_into(artifact, *file, true, root, {}, {}));
  TRY(acquire::check_unpacked(artifact, tree, *file, root));
  TRY_ASSIGN(cache::TreeList list, tree.writer.finish());
  TRY_ASSIGN(ArtifactFacts facts, facts_of_tree(std::move(list), root, acquire::archive_key(artifact)));
  remove_tree(scratch, error);
  return facts;
}

Json to_json(const ArtifactFacts& facts) {
  Json libraries = Json::array();
  for (const LibraryFacts& one : facts.libraries) {
    Json library = Json::object()
                       .set("path", one.path)
                       .set("kind", one.kind)
                       .set("machine", one.machine)
                       .set("soname", one.soname)
                       .set("minimum_os", one.minimum_os)
                       .set("needed", Json::strings(one.needed))
                       .set("glibc", one.glibc)
                       .set("glibcxx", one.glibcxx)
                       .set("cxxabi", one.cxxabi)
                       .set("isa", one.isa)
                       .set("sass", Json::strings(one.sass))
                       .set("ptx", Json::strings(one.ptx))
                       .set("plugin", one.plugin);
    if (one.plugin_texts)
      library.set("engine", one.plugin_texts->engine)
          .set("capabilities", Json::strings(one.plugin_texts->capabilities));
    if (one.stand_in) library.set("stand_in", true);
    if (one.gpu_code_incomplete) library.set("gpu_code_incomplete", true);
    if (one.rpath) library.set("rpath", Json::strings(*one.rpath));
    if (one.runpath) library.set("runpath", Json::strings(*one.runpath));
    if (one.dependent_load_flags != 0) library.set("dependent_load_flags", one.dependent_load_flags);
    if (!one.found_by_own_path.empty()) {
      Json found = Json::object();
      for (const auto& [name, folder] : one.found_by_own_path) found.set(name, folder);
      library.set("found_by_own_path", std::move(found));
    }
    libraries.push(std::move(library));
  }
  Json document = Json::object()
                      .set("format", facts.reports_paths ? format_with_paths : 1)
                      .set("tree", facts.tree)
                      .set("unpacked_as", facts.unpacked_as)
                      .set("files", Json::strings(facts.files))
                      .set("libraries", std::move(libraries));
  Json links = Json::object();
  for (const auto& [link, target] : facts.links) links.set(link, target);
  if (!facts.links.empty()) document.set("links", std::move(links));
  if (!facts.file.empty()) document.set("file", facts.file).set("sha256", facts.sha256);
  if (facts.by_ranges) document.set("by_ranges", true);
  return document;
}

ArtifactFacts facts_from_json(const Json& document) {
  ArtifactFacts facts;
  facts.tree = document["tree"].as_string();
  facts.unpacked_as = document["unpacked_as"].as_string();
  facts.files = texts_of(document["files"]);
  facts.file = document["file"].as_string();
  facts.sha256 = document["sha256"].as_string();
  facts.by_ranges = document["by_ranges"].as_bool();
  facts.reports_paths = document["format"].as_integer() >= format_with_paths;
  for (const auto& [link, target] : document["links"].as_object())
    facts.links.emplace(link, target.as_string());
  for (const Json& one : document["libraries"].as_array()) {
    LibraryFacts library;
    library.path = one["path"].as_string();
    library.kind = one["kind"].as_string();
    library.machine = one["machine"].as_string();
    library.soname = one["soname"].as_string();
    library.minimum_os = one["minimum_os"].as_string();
    library.needed = texts_of(one["needed"]);
    if (const Json* rpath = one.find("rpath")) library.rpath = texts_of(*rpath);
    if (const Json* runpath = one.find("runpath")) library.runpath = texts_of(*runpath);
    library.dependent_load_flags = one["dependent_load_flags"].as_integer();
    library.glibc = one["glibc"].as_string();
    library.glibcxx = one["glibcxx"].as_string();
    library.cxxabi = one["cxxabi"].as_string();
    library.isa = one["isa"].as_integer();
    library.sass = texts_of(one["sass"]);
    library.ptx = texts_of(one["ptx"]);
    library.gpu_code_incomplete = one["gpu_code_incomplete"].as_bool();
    library.plugin = one["plugin"].as_bool();
    if (one["engine"].is_string())
      library.plugin_texts = {one["engine"].as_string(), texts_of(one["capabilities"])};
    library.stand_in = one["stand_in"].as_bool();
    for (const auto& [name, folder] : one["found_by_own_path"].as_object())
      library.found_by_own_path.emplace_back(name, folder.as_string());
    facts.libraries.push_back(std::move(library));
  }
  return facts;
}

}  // namespace enginehost::publish
