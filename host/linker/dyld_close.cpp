#include "host/linker/dyld.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/linker/refusals.hpp"

namespace enginehost::linker {
namespace {

using Image = std::pair<std::string, const binary::BinaryInfo*>;

// A path that dyld tries for a name.
struct DyldTry {
  std::string path;
  std::string why;       // "LC_RPATH of libx.dylib", "path", "DYLD_LIBRARY_PATH"
  std::string found_by;  // "LC_RPATH of /a/libx.dylib"
  bool fallback = false;
};

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string(".") : std::string(path.substr(0, slash));
}
std::string leaf_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// Returns "Foo.framework/Versions/A/Foo" for a path to a framework's library; empty for others (dyld(1),
// DYLD_FRAMEWORK_PATH).
std::string framework_part(std::string_view path) {
  const std::size_t mark = path.rfind(".framework/");
  if (mark == std::string_view::npos) return {};
  const std::size_t start = path.rfind('/', mark);
  const std::string_view name = path.substr(start + 1, mark - start - 1);
  return leaf_of(path).starts_with(name) ? std::string(path.substr(start + 1)) : std::string();
}

// Returns the folder for @loader_path or @executable_path, with the rest of the text. Nothing if the program
// is unknown.
std::optional<std::string> expanded(const AppleMachine& machine, std::string_view text,
                                    const std::string& loader) {
  constexpr std::string_view at_loader = "@loader_path", at_program = "@executable_path";
  if (text.starts_with(at_loader)) return folder_of(loader) + std::string(text.substr(at_loader.size()));
  if (!text.starts_with(at_program)) return std::string(text);
  if (machine.program.empty()) return std::nullopt;
  return folder_of(machine.program) + std::string(text.substr(at_program.size()));
}

// `chain`: the image that needs the name, then those that brought it in, and the program.
std::vector<DyldTry> tries_for(const AppleMachine& machine, const std::string& name,
                               const std::vector<Image>& chain) {
  std::vector<DyldTry> tries;
  const auto add = [&](std::string path, const std::string& why, const std::string& found_by, bool fallback) {
    if (!path.starts_with('/')) {
      if (machine.hardened) return;  // "relative path not allowed in hardened program"
      path = machine.current_directory + "/" + path;
    }
    path = path_text(path_of(path).lexically_normal());
    if (std::ranges::none_of(tries, [&](const DyldTry& other) { return other.path == path; }))
      tries.push_back({std::move(path), why, found_by, fallback});
  };
  using Folders = std::vector<std::string>;
  // A hardened program ignores the variables, but not the folders that they replace.
  const auto add_variable = [&](const std::optional<Folders>& folders, const std::string& part,
                                const char* variable, const Folders& usual) {
    for (const std::string& folder : folders && !machine.hardened ? *folders : usual)
      if (!folder.empty() && !part.empty()) add(folder + "/" + part, variable, variable, !usual.empty());
  };
  const std::string framework = framework_part(name), leaf = leaf_of(name);
  add_variable(machine.framework_path, framework, "DYLD_FRAMEWORK_PATH", {});
  add_variable(machine.library_path, leaf, "DYLD_LIBRARY_PATH", {});
  constexpr std::string_view at_rpath = "@rpath/";
  if (!name.starts_with(at_rpath)) {
    if (auto path = expanded(machine, name, chain.empty() ? std::string("/") : chain.front().first))
      add(std::move(*path), "path", "path", false);
  } else {
    for (const auto& [image, info] : chain) {
      if (info == nullptr) continue;
      for (const std::string& element : info->rpath) {
        // @rpath inside LC_RPATH has no meaning and is skipped.
        if (element.empty() || element.starts_with("@rpath")) continue;
        if (auto folder = expanded(machine, element, image))
          add(*folder + "/" + name.substr(at_rpath.size()), "LC_RPATH of " + leaf_of(image),
              "LC_RPATH of " + image, false);
      }
    }
  }
  add_variable(machine.fallback_framework_path, framework, "DYLD_FALLBACK_FRAMEWORK_PATH",
               {"/Library/Frameworks", "/System/Library/Frameworks"});
  add_variable(machine.fallback_library_path, leaf, "DYLD_FALLBACK_LIBRARY_PATH",
               {"/usr/local/lib", "/usr/lib"});
  return tries;
}

}  // namespace

bool in_shared_cache(const AppleMachine& machine, std::string_view path) {
  if (machine.shared_cache.empty()) return path.starts_with("/usr/lib/") || path.starts_with("/System/");
  return std::find(machine.shared_cache.begin(), machine.shared_cache.end(), path) !=
         machine.shared_cache.end();
}

namespace {

constexpr std::size_t deepest = 512;

bool machine_fits(std::string_view process, std::string_view image) {
  if (process == "arm64e") return image == "arm64e" || image == "aarch64";
  if (process == "x86_64") return image == "x86_64" || image == "x86_64h";
  return image == process;
}

class DyldClosureWalk {
 public:
  DyldClosureWalk(const AppleMachine& machine, const AppleRequest& request, Reader& reader)
      : machine_(machine), request_(request), reader_(reader) {
    closure_.file = request.file;
  }

  Closure run() {
    for (const LoadedLibrary& library : machine_.loaded) {
      const int index = add({library.soname, path_text(library.path), library.soname, {}, "already loaded"});
      entered_[index] = true;
    }
    for (const std::string& file : request_.preloaded) open(file, "preloaded");
    open(request_.file, "request");
    return std::move(closure_);
  }

 private:
  const Object& object(int index) const { return closure_.objects[static_cast<std::size_t>(index)]; }

  std::string on_disk(const std::string& path) const {
    return machine_.root.empty() ? path : path_text(machine_.root / path_of(path).relative_path());
  }

  void open(const std::string& path, const char* found_by) {
    if (names_.count(path) != 0) return;
    const auto& read = reader_.read(on_disk(path));
    if (std::optional<Refusal> refusal = refusal_of(path, read, true)) {
      reject(closure_, path, path, -1, std::move(*refusal));
      return;
    }
    if (serve_by_identity(path, *read)) return;
    const int index = add({path, path, read->soname, {}, found_by, -1, &*read});
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
    if (!machine_.program.empty())
      if (const auto& info = reader_.read(on_disk(machine_.program)))
        chain.emplace_back(machine_.program, &*info);
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
    const std::vector<DyldTry> tries = tries_for(machine_, name, chain);
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
      return add({name, one.path, one.path, object(parent).path, "shared cache", parent});
    const auto& read = reader_.read(on_disk(one.path));
    if (!read && binary::no_such_file(read.error())) return -1;
    if (std::optional<Refusal> refusal = refusal_of(one.path, read, false)) {
      refusal->fatal = false;
      reject(closure_, name, one.path, parent, std::move(*refusal));
      return -1;
    }
    if (const std::optional<int> same = serve_by_identity(one.path, *read)) return *same;
    const int index = add({name, one.path, read->soname, object(parent).path, one.found_by, parent, &*read});
    warn_of_version(object(index));
    return index;
  }

  std::optional<Refusal> refusal_of(const std::string& path, const Result<binary::BinaryInfo>& read,
                                    bool direct) const {
    if (!read) return Refusal{short_reason(read.error()), true, read.error()};
    const auto refused = [&](const std::string& why, Code code, Key what, std::string_view value,
                             std::string_view source = {}) {
      return Refusal{why, true, Diagnosis(diagnose(code).with(Key::file, path).with(what, value, source))};
    };
    const binary::BinaryInfo& info = *read;
    const std::string &type = info.macho.file_type, &platform = info.macho.platform;
    if (info.kind != binary::Kind::macho && info.kind != binary::Kind::unknown)
      return refused(info.sniffed, Code::not_a_mach_o_file, Key::format, info.sniffed);
    if (!machine_fits(machine_.architecture, info.machine) && !info.machine.empty()) {
      Refusal refusal =
          refused(info.machine, Code::macos_library_for_other_processor, Key::built_for, info.machine);
      refusal.diagnosis.with(Key::machine, machine_.architecture);
      if (machine_.rosetta) refusal.diagnosis.with(Key::rosetta, "yes");
      return refusal;
    }
    if (!info.problems.empty())
      return Refusal{info.kind == binary::Kind::macho ? "damaged" : info.sniffed, true,
                     info.problems.front()};
    if (!platform.empty() && platform != "macos" && platform != "maccatalyst")
      return refused("for " + platform, Code::not_for_this_apple_platform, Key::built_for, platform,
                     "LC_BUILD_VERSION");
    // A bundle is for dlopen; nothing can be linked against it.
    if (type != "dylib" && !(direct && type == "bundle"))
      return refused(type, Code::not_for_this_apple_platform, Key::built_for, "use as " + type, "file type");
    // Apple, "Signing your apps for Gatekeeper" and macOS 11 release notes: native arm64 code without at
    // least an ad-hoc signature is not mapped.
    if (machine_.architecture != "x86_64" && !info.code_signed)
      return refused("not signed", Code::code_signature_refused, Key::problem, "it has no signature",
                     "LC_CODE_SIGNATURE");
    return std::nullopt;
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
    closure_.warnings.push_back(std::move(diagnose(Code::macos_too_old)
                                              .with(Key::file, one.path)
                                              .with(Key::required, needs, "LC_BUILD_VERSION")
                                              .with(Key::found, machine_.os_version)));
  }

  void miss(const std::string& name, int parent, const std::vector<Image>& chain,
            const std::vector<DyldTry>& tries) {
    const std::string leaf = leaf_of(name);
    Missing missing;
    missing.name = name;
    missing.needed_by = object(parent).path;
    missing.chain = chain_to(closure_, parent);
    for (const DyldTry& one : tries) missing.searched.push_back({one.path, one.why});
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
  Reader& reader_;
  Closure closure_;
  std::unordered_map<std::string, int> names_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> identities_;  // device, inode
  std::unordered_map<int, bool> entered_;
};

}  // namespace

Closure close_macos(const AppleMachine& machine, const AppleRequest& request, Reader& reader) {
  return DyldClosureWalk(machine, request, reader).run();
}

std::vector<Diagnosis> diagnose_macos(const Closure& closure) {
  const auto add_search = [&](const Missing& missing, Diagnosis& diagnosis) {
    bool by_rpath = false;
    for (const Searched& place : missing.searched) {
      diagnosis.with(Key::searched, place.directory, place.why);
      by_rpath = by_rpath || place.why.starts_with("LC_RPATH");
    }
    if (missing.name.starts_with("@rpath/") && !by_rpath)
      diagnosis.with(Key::no_rpath, missing.name, "no LC_RPATH on the way from " + closure.file);
  };
  const MissingRules rules{
      "load commands", [](const Missing&) { return Code::macos_library_missing; },
      [](const Rejected& file, const Missing& missing) { return file.name == missing.name; },
      "load commands of ", add_search};
  std::vector<Diagnosis> found;
  for (const bool fatal : {true, false}) add_rejected(closure, rules, fatal, found);
  add_missing(closure, rules, found);
  return found;
}

std::optional<Quarantine> parse_quarantine(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdefABCDEF";
  constexpr unsigned long user_approved = 0x40;
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.remove_suffix(1);
  const std::vector<std::string> parts = split(text, ';');
  const std::string& flags = parts.front();
  if (flags.empty() || flags.size() > 8 || flags.find_first_not_of(digits) != std::string::npos)
    return std::nullopt;
  Quarantine found;
  found.text = std::string(text);
  found.approved = (std::stoul(flags, nullptr, 16) & user_approved) != 0;
  if (parts.size() > 2) found.agent = parts[2];
  return found;
}

std::optional<Diagnosis> quarantine_problem(const std::filesystem::path& file) {
  const auto text = quarantine_text(file);
  const auto found = text ? parse_quarantine(*text) : std::nullopt;
  if (!found || found->approved) return std::nullopt;
  Diagnosis diagnosis = diagnose(Code::quarantined_by_macos);
  diagnosis.with(Key::file, path_text(file)).with(Key::attribute, found->text, "com.apple.quarantine");
  if (!found->agent.empty()) diagnosis.with(Key::downloaded_by, found->agent, "com.apple.quarantine");
  return diagnosis;
}

}  // namespace enginehost::linker
