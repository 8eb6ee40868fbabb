#include "tools/publish/requirements.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "tools/publish/described_build.hpp"

namespace enginehost::publish {
namespace {

std::string file_name(const std::string& path) { return path.substr(path.find_last_of("/\\") + 1); }

std::string folder_of(const std::string& view_path) {
  const std::size_t slash = view_path.rfind('/');
  return slash == std::string::npos ? std::string() : view_path.substr(0, slash);
}

binary::BinaryInfo described(const LibraryFacts& library, const std::string& arch) {
  binary::BinaryInfo info;
  info.kind = library.kind == "elf"  ? binary::Kind::elf
              : library.kind == "pe" ? binary::Kind::pe
                                     : binary::Kind::macho;
  info.bits = 64;
  // For a universal library: the part for the build's machine.
  const std::string machine = library.kind == "macho" && arch == "arm64" ? "aarch64" : arch;
  const auto machines = split(library.machine, '+');
  info.machine =
      std::find(machines.begin(), machines.end(), machine) != machines.end() ? machine : library.machine;
  info.soname = library.soname;
  info.needed = library.needed;
  if (library.rpath) info.rpath = *library.rpath;
  if (library.runpath) info.runpath = *library.runpath;
  info.has_rpath = library.rpath.has_value();
  info.has_runpath = library.runpath.has_value();
  if (info.kind == binary::Kind::pe)
    info.pe.dependent_load_flags = static_cast<std::uint16_t>(library.dependent_load_flags);
  if (info.kind == binary::Kind::macho) {
    info.macho.file_type = "dylib";
    info.code_signed = true;  // not checked here
  }
  return info;
}

class Reach {
 public:
  Reach(const manifest::Build& build, const std::vector<ArtifactFacts>& parts)
      : build_(build), parts_(parts) {
    // Prefers a library to another file of its name.
    for (const ArtifactFacts& part : parts)
      for (const LibraryFacts& library : part.libraries) {
        libraries_.insert(library.path);
        kind_ = library.kind;
        places_.emplace(key(file_name(library.path)), library.path);
        if (!library.soname.empty()) places_.emplace(key(file_name(library.soname)), library.path);
      }
    for (const ArtifactFacts& part : parts) {
      for (const std::string& file : part.files) places_.emplace(key(file_name(file)), file);
      for (const auto& [link, target] : part.links) libraries_.insert(link);
    }
    musl_ = requirements_of(parts, build.flavor)["libc"].as_string() == "musl";
    for (const std::string& name : build.requires_.libraries) declared_.insert(key(name));
  }

  std::vector<OutOfReach> run() {
    const DescribedMissing all = check_described(described_build());
    paths_are_reported_ =
        kind_ == "pe" || std::all_of(parts_.begin(), parts_.end(),
                                     [](const ArtifactFacts& part) { return part.reports_paths; });
    for (const linker::Missing& missing : all.at_load) take(missing, true);
    for (const linker::Missing& missing : all.later) take(missing, false);
    return std::move(found_);
  }

 private:
  // Returns the name in the form that the build's system compares.
  std::string key(const std::string& name) const { return build_.os == "windows" ? to_lower(name) : name; }

  DescribedBuild described_build() const {
    DescribedBuild described_build;
    for (const ArtifactFacts& part : parts_) {
      for (const LibraryFacts& library : part.libraries)
        described_build.files.add(in_described_view(library.path), described(library, build_.arch));
      for (const auto& [link, target] : part.links)
        described_build.files.add_link(in_described_view(link), target);
    }
    described_build.plugin = build_.plugin_path;
    described_build.search = build_.search;
    for (const manifest::Component* component : build_.all_components())
      described_build.optional.insert(described_build.optional.end(), component->optional.begin(),
                                      component->optional.end());
    described_build.lazy = build_.lazy;
    described_build.musl = musl_;
    return described_build;
  }

  void take(const linker::Missing& missing, bool certain) {
    const std::string name = key(file_name(missing.name));
    const auto place = places_.find(name);
    // A library that is nowhere in the build is reported by outside().
    if (place == places_.end() || declared_.contains(name) ||
        is_of_system(kind_, missing.name, build_.flavor) || !reported_.insert(name).second)
      return;
    report(view_path_of(missing.needed_by), missing.name, place->second, certain);
  }

  void report(const std::string& needed_by, const std::string& name, const std::string& lies_at,
              bool certain) {
    OutOfReach found;
    found.certain = certain && paths_are_reported_;
    found.problem = needed_by + " needs " + name + ", which lies in " + lies_at;
    const std::string folder = folder_of(lies_at);
    const bool is_searched =
        folder == folder_of(build_.plugin_path) ||
        std::any_of(build_.search.begin(), build_.search.end(),
                    [&](const std::string& one) { return (one == "." ? "" : one) == folder; });
    if (!libraries_.contains(lies_at)) {
      found.problem += ", and that is no library";
      found.remedy = "add an archive that has the library itself";
    } else if (!paths_are_reported_) {
      found.problem += ": whether anything leads there was not noted when the archives were looked into";
      found.remedy = "add them again with engine-manifest add, or name its folder in \"search\"";
    } else if (kind_ == "elf" && name.find('/') != std::string::npos) {
      found.problem += ": a name with a folder in it is looked for there and nowhere else";
      found.remedy = "change what " + needed_by + " says: " + command(needed_by, name, lies_at);
    } else if (is_searched || musl_) {
      found.problem += musl_ ? ": no RUNPATH leads there, and musl looks nowhere else in a build"
                             : ": it is searched for by that name, and neither a RUNPATH leads there nor is "
                               "it the library's own";
      found.remedy = "change what " + needed_by + " says: " + command(needed_by, name, lies_at);
    } else {
      found.problem += kind_ == "pe" ? ": no folder of \"search\" leads there"
                                     : ": no folder of \"search\" leads there, nor does a path of its own";
      found.remedy = "add " + Json(folder.empty() ? "." : folder).dump() + " to \"search\", or name " + name +
                     " in requires.libraries if the system brings it";
    }
    found_.push_back(std::move(found));
  }

  // Returns the command that lets a file find a neighboring library by itself.
  std::string command(const std::string& needed_by, const std::string& name,
                      const std::string& lies_at) const {
    std::string way = generic_text(
        path_of("/" + folder_of(lies_at)).lexically_relative(path_of("/" + folder_of(needed_by))));
    const std::string origin = kind_ == "macho" ? "@loader_path" : "$ORIGIN";
    way = way.empty() || way == "." ? origin : origin + "/" + way;
    if (kind_ == "macho")
      return name.starts_with("@rpath/")
                 ? "install_name_tool -add_rpath " + way
                 : "install_name_tool -change " + name + " " + way + "/" + file_name(lies_at);
    return name.find('/') != std::string::npos ? "patchelf --replace-needed " + name + " " + file_name(name)
                                               : "patchelf --set-rpath '" + way + "'";
  }

  const manifest::Build& build_;
  const std::vector<ArtifactFacts>& parts_;
  std::map<std::string, std::string> places_;  // by requested name
  std::set<std::string> libraries_;            // including links
  std::string kind_;
  bool musl_ = false, paths_are_reported_ = true;
  std::set<std::string> declared_, reported_;
  std::vector<OutOfReach> found_;
};

}  // namespace

std::vector<OutOfReach> out_of_reach(const manifest::Build& build, const std::vector<ArtifactFacts>& parts) {
  return Reach(build, parts).run();
}

}  // namespace enginehost::publish
