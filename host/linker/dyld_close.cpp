#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/paths.hpp"
#include "base/version.hpp"
#include "host/linker/dyld_places.hpp"

namespace enginehost::linker {
namespace {

using Image = std::pair<std::string, const binary::BinaryInfo*>;
constexpr std::size_t deepest = 512;

bool machine_fits(std::string_view process, std::string_view image) {
  if (process == "arm64e") return image == "arm64e" || image == "aarch64";
  if (process == "x86_64") return image == "x86_64" || image == "x86_64h";
  return image == process;
}

class DyldClosureWalk {
 public:
  DyldClosureWalk(const AppleMachine& machine, const AppleRequest& request, ForeignReader& reader)
      : machine_(machine), request_(request), reader_(reader) {
    closure_.file = request.file;
  }

  Closure run() {
    for (const LoadedLibrary& library : machine_.loaded) {
      const int index = add({.name = library.soname,
                             .path = path_text(library.path),
                             .soname = library.soname,
                             .needed_by = {},
                             .found_by = "already loaded",
                             .parent = -1,
                             .info = nullptr});
      entered_[index] = true;
    }
    for (const std::string& file : request_.preloaded) open(file, "preloaded");
    open(request_.file, "request");
    return std::move(closure_);
  }

 private:
  const Object& object(int index) const { return closure_.objects[static_cast<std::size_t>(index)]; }

  std::filesystem::path on_disk(const std::string& path) const {
    return machine_.root.empty() ? path_of(path) : machine_.root / path_of(path).relative_path();
  }

  void open(const std::string& path, const char* found_by) {
    if (names_.count(path) != 0) return;
    const auto& read = reader_.read(on_disk(path));
    if (std::optional<Rejected> refusal = refusal_of(path, read, true)) {
      refusal->name = path;
      closure_.rejected.push_back(std::move(*refusal));
      return;
    }
    if (serve_by_identity(path, *read)) return;
    const int index = add({.name = path,
                           .path = path,
                           .soname = read->soname,
                           .needed_by = {},
                           .found_by = found_by,
                           .parent = -1,
                           .info = &*read});
    warn_of_version(object(index));
    std::vector<int> stack;
    load_dependents(index, stack);
  }

  // JustInTimeLoader::loadDependents: first all direct needs of an image, then each of them in turn. The
  // LC_RPATHs of the images on the stack count.
  void load_dependents(int index, std::vector<int>& stack) {
    if (entered_[index] || object(index).info == nullptr || stack.size() == deepest ||
        closure_.objects.size() > object_limit)
      return;
    entered_[index] = true;
    stack.push_back(index);
    std::vector<Image> chain;
    for (auto at = stack.rbegin(); at != stack.rend(); ++at)
      chain.emplace_back(object(*at).path, object(*at).info);
    for (const std::string& opener : {request_.caller, machine_.program})
      if (!opener.empty())
        if (const auto& info = reader_.read(on_disk(opener))) chain.emplace_back(opener, &*info);
    std::vector<int> loaded;
    const binary::BinaryInfo& info = *object(index).info;
    for (const std::string& name : info.needed) bring(name, index, chain, false, loaded);
    for (const std::string& name : info.optional) bring(name, index, chain, true, loaded);
    for (const int dependent : loaded) load_dependents(dependent, stack);
    stack.pop_back();
  }

  void bring(const std::string& name, int parent, const std::vector<Image>& chain, bool weak,
             std::vector<int>& loaded) {
    if (const auto known = names_.find(name); known != names_.end()) {
      loaded.push_back(known->second);
      return;
    }
    const std::vector<DyldTry> tries = dyld_tries(machine_, name, chain);
    for (const DyldTry& one : tries) {
      const int index = try_path(one, name, parent);
      if (index < 0) continue;
      names_.emplace(name, index);
      loaded.push_back(index);
      return;
    }
    if (!weak) miss(name, parent, chain, tries);
  }

  // Returns the object at that path, or -1: dyld continues with the next path after any failure.
  int try_path(const DyldTry& one, const std::string& name, int parent) {
    if (const auto known = names_.find(one.path); known != names_.end()) return known->second;
    // A fallback name is not assumed to be in the cache, because every name would be found then.
    const bool assumed = machine_.shared_cache.empty() && one.fallback;
    if (!assumed && in_shared_cache(machine_, one.path))
      return add({.name = name,
                  .path = one.path,
                  .soname = one.path,
                  .needed_by = object(parent).path,
                  .found_by = "shared cache",
                  .parent = parent,
                  .info = nullptr});
    const auto& read = reader_.read(on_disk(one.path));
    if (!read && binary::no_such_file(read.error())) return -1;
    if (std::optional<Rejected> refusal = refusal_of(one.path, read, false)) {
      refusal->name = name;
      refusal->needed_by = object(parent).path;
      refusal->fatal = false;
      refusal->diagnosis.with("library", name).with("needed_by", refusal->needed_by);
      closure_.rejected.push_back(std::move(*refusal));
      return -1;
    }
    if (const std::optional<int> same = serve_by_identity(one.path, *read)) return *same;
    const int index = add({.name = name,
                           .path = one.path,
                           .soname = read->soname,
                           .needed_by = object(parent).path,
                           .found_by = one.found_by,
                           .parent = parent,
                           .info = &*read});
    warn_of_version(object(index));
    return index;
  }

  std::optional<Rejected> refusal_of(const std::string& path, const Result<binary::BinaryInfo>& read,
                                     bool direct) const {
    Rejected rejected{"", path, "", "", true, {}};
    if (!read) {
      rejected.why = read.error().value(read.error().value("problem").empty() ? "errno" : "problem");
      rejected.diagnosis = read.error();
      return rejected;
    }
    const binary::BinaryInfo& info = *read;
    const std::string& type = info.macho->file_type;
    if (info.kind != binary::Kind::macho && info.kind != binary::Kind::unknown) {
      rejected.why = info.sniffed;
      rejected.diagnosis = diagnose("EH-X03");
      rejected.diagnosis.with("file", path).with("format", info.sniffed);
    } else if (!machine_fits(machine_.architecture, info.machine) && !info.machine.empty()) {
      rejected.why = info.machine;
      rejected.diagnosis = diagnose("EH-X02");
      rejected.diagnosis.with("file", path)
          .with("built_for", info.machine)
          .with("machine", machine_.architecture);
      if (machine_.rosetta) rejected.diagnosis.with("rosetta", "yes");
    } else if (!info.problems.empty()) {
      rejected.why = info.kind == binary::Kind::macho ? "damaged" : info.sniffed;
      rejected.diagnosis = info.problems.front();
    } else if (!info.macho->platform.empty() && info.macho->platform != "macos" &&
               info.macho->platform != "maccatalyst") {
      rejected.why = "for " + info.macho->platform;
      rejected.diagnosis = diagnose("EH-X08");
      rejected.diagnosis.with("file", path).with("built_for", info.macho->platform, "LC_BUILD_VERSION");
    } else if (type != "dylib" && !(direct && type == "bundle")) {
      // A bundle is for dlopen; nothing can be linked against it.
      rejected.why = type;
      rejected.diagnosis = diagnose("EH-X08");
      rejected.diagnosis.with("file", path).with("built_for", "use as " + type, "file type");
    } else if (machine_.architecture != "x86_64" && !info.code_signed) {
      // Apple, "Signing your apps for Gatekeeper" and macOS 11 release notes: native arm64 code without at
      // least an ad-hoc signature is not mapped.
      rejected.why = "not signed";
      rejected.diagnosis = diagnose("EH-X04");
      rejected.diagnosis.with("file", path).with("problem", "it has no signature", "LC_CODE_SIGNATURE");
    } else {
      return std::nullopt;
    }
    return rejected;
  }

  std::optional<int> serve_by_identity(const std::string& name, const binary::BinaryInfo& info) {
    const auto known = identities_.find({info.device, info.inode});
    if (known == identities_.end()) return std::nullopt;
    names_.emplace(name, known->second);
    return known->second;
  }

  int add(Object object) {
    const int index = static_cast<int>(closure_.objects.size());
    names_.emplace(object.path, index);
    // An image is also found by its install name ("@rpath/libx.dylib" after it was loaded by its path).
    if (!object.soname.empty()) names_.emplace(object.soname, index);
    if (object.info != nullptr)
      identities_.emplace(std::pair(object.info->device, object.info->inode), index);
    closure_.objects.push_back(std::move(object));
    return index;
  }

  void warn_of_version(const Object& one) {
    const std::string& needs = one.info->minimum_os;
    if (machine_.os_version.empty() || needs.empty() || compare_versions(needs, machine_.os_version) <= 0)
      return;
    closure_.warnings.push_back(std::move(diagnose("EH-X07")
                                              .with("file", one.path)
                                              .with("required", needs, "LC_BUILD_VERSION")
                                              .with("found", machine_.os_version)));
  }

  void miss(const std::string& name, int parent, const std::vector<Image>& chain,
            const std::vector<DyldTry>& tries) {
    const auto& harmless = request_.may_be_missing;
    const std::string leaf = name.substr(name.rfind('/') + 1);
    if (std::any_of(harmless.begin(), harmless.end(),
                    [&](const std::string& one) { return one == name || one == leaf; }))
      return;
    Missing missing;
    missing.name = name;
    missing.needed_by = object(parent).path;
    for (int i = parent; i >= 0; i = object(i).parent)
      missing.chain.insert(missing.chain.begin(), object(i).path);
    for (const DyldTry& one : tries) missing.searched.push_back({one.path, one.why, false});
    // Beside the images on the way, where a user may notice the file.
    for (const Image& image : chain) {
      const std::string beside = image.first.substr(0, image.first.rfind('/') + 1) + leaf;
      const bool tried =
          std::any_of(tries.begin(), tries.end(), [&](const auto& one) { return one.path == beside; });
      if (!tried && reader_.file_exists(on_disk(beside)) &&
          std::find(missing.present_at.begin(), missing.present_at.end(), beside) == missing.present_at.end())
        missing.present_at.push_back(beside);
    }
    closure_.missing.push_back(std::move(missing));
  }

  const AppleMachine& machine_;
  const AppleRequest& request_;
  ForeignReader& reader_;
  Closure closure_;
  std::unordered_map<std::string, int> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> identities_;  // device, inode
  std::unordered_map<int, bool> entered_;
};

}  // namespace

Closure close_macos(const AppleMachine& machine, const AppleRequest& request, ForeignReader& reader) {
  return DyldClosureWalk(machine, request, reader).run();
}

std::vector<Diagnosis> diagnose_macos(const Closure& closure) {
  std::vector<Diagnosis> found;
  const auto missing_too = [&](const Rejected& file) {
    return std::any_of(closure.missing.begin(), closure.missing.end(),
                       [&](const Missing& missing) { return missing.name == file.name; });
  };
  for (const bool fatal : {true, false})
    for (const Rejected& file : closure.rejected)
      if (file.fatal == fatal && (fatal || missing_too(file))) found.push_back(file.diagnosis);
  std::unordered_map<std::string, std::size_t> groups;  // needer -> index in found
  for (const Missing& missing : closure.missing) {
    if (std::any_of(closure.rejected.begin(), closure.rejected.end(),
                    [&](const Rejected& file) { return !file.fatal && file.name == missing.name; }))
      continue;
    auto [group, added] = groups.emplace(missing.needed_by, found.size());
    if (added) {
      Diagnosis diagnosis = diagnose("EH-X01");
      diagnosis.with("file", closure.file).with("needed_by", missing.needed_by, "load commands");
      for (const std::string& link : missing.chain) diagnosis.with("chain", link);
      found.push_back(std::move(diagnosis));
    }
    Diagnosis& diagnosis = found[group->second];
    diagnosis.with("library", missing.name, "load commands of " + missing.needed_by);
    for (const Searched& place : missing.searched) diagnosis.with("searched", place.directory, place.why);
    for (const std::string& path : missing.present_at) diagnosis.with("present_at", path);
    const bool by_rpath =
        std::any_of(missing.searched.begin(), missing.searched.end(),
                    [](const Searched& place) { return place.why.starts_with("LC_RPATH"); });
    if (missing.name.starts_with("@rpath/") && !by_rpath)
      diagnosis.with("no_rpath", missing.name, "no LC_RPATH on the way from " + closure.file);
  }
  return found;
}

}  // namespace enginehost::linker
