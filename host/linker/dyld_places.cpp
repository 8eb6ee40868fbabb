#include "host/linker/dyld_places.hpp"

#include <algorithm>

#include "base/paths.hpp"

namespace enginehost::linker {
namespace {

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

class Tries {
 public:
  Tries(const AppleMachine& machine, const std::string& name) : machine_(machine), name_(name) {}

  std::vector<DyldTry> run(const std::vector<std::pair<std::string, const binary::BinaryInfo*>>& chain) {
    const std::string part = framework_part(name_);
    if (!machine_.hardened) {
      if (!part.empty()) add_variable(machine_.framework_path, part, "DYLD_FRAMEWORK_PATH", false);
      add_variable(machine_.library_path, leaf_of(name_), "DYLD_LIBRARY_PATH", false);
    }
    add_itself(chain);
    const std::vector<std::string> library_defaults{"/usr/local/lib", "/usr/lib"};
    const std::vector<std::string> framework_defaults{"/Library/Frameworks", "/System/Library/Frameworks"};
    if (!part.empty())
      add_variable(chosen(machine_.fallback_framework_path, framework_defaults), part,
                   "DYLD_FALLBACK_FRAMEWORK_PATH", true);
    add_variable(chosen(machine_.fallback_library_path, library_defaults), leaf_of(name_),
                 "DYLD_FALLBACK_LIBRARY_PATH", true);
    return std::move(tries_);
  }

 private:
  std::optional<std::vector<std::string>> chosen(const std::optional<std::vector<std::string>>& variable,
                                                 const std::vector<std::string>& usual) const {
    return variable && !machine_.hardened ? *variable : usual;
  }

  void add(std::string path, std::string why, std::string found_by, bool fallback) {
    if (!path.starts_with('/')) {
      if (machine_.hardened) return;  // "relative path not allowed in hardened program"
      path = machine_.current_directory + "/" + path;
    }
    path = path_text(path_of(path).lexically_normal());
    const bool known =
        std::any_of(tries_.begin(), tries_.end(), [&](const DyldTry& other) { return other.path == path; });
    if (!known) tries_.push_back({std::move(path), std::move(why), std::move(found_by), fallback});
  }

  void add_variable(const std::optional<std::vector<std::string>>& folders, const std::string& name,
                    const char* variable, bool fallback) {
    if (!folders) return;
    for (const std::string& folder : *folders)
      if (!folder.empty()) add(folder + "/" + name, variable, variable, fallback);
  }

  // Returns the folder for @loader_path or @executable_path, with the rest of the text. Nothing if the
  // program is unknown.
  std::optional<std::string> expanded(std::string_view text, const std::string& loader) const {
    constexpr std::string_view at_loader = "@loader_path", at_program = "@executable_path";
    if (text.starts_with(at_loader)) return folder_of(loader) + std::string(text.substr(at_loader.size()));
    if (!text.starts_with(at_program)) return std::string(text);
    if (machine_.program.empty()) return std::nullopt;
    return folder_of(machine_.program) + std::string(text.substr(at_program.size()));
  }

  void add_itself(const std::vector<std::pair<std::string, const binary::BinaryInfo*>>& chain) {
    constexpr std::string_view at_rpath = "@rpath/";
    if (!name_.starts_with(at_rpath)) {
      if (auto path = expanded(name_, chain.empty() ? std::string("/") : chain.front().first))
        add(std::move(*path), "path", "path", false);
      return;
    }
    const std::string rest = name_.substr(at_rpath.size());
    for (const auto& [image, info] : chain) {
      if (info == nullptr) continue;
      for (const std::string& element : info->rpath) {
        // @rpath inside LC_RPATH has no meaning and is skipped.
        if (element.empty() || element.starts_with("@rpath")) continue;
        if (auto folder = expanded(element, image))
          add(*folder + "/" + rest, "LC_RPATH of " + leaf_of(image), "LC_RPATH of " + image, false);
      }
    }
  }

  const AppleMachine& machine_;
  const std::string& name_;
  std::vector<DyldTry> tries_;
};

}  // namespace

std::vector<DyldTry> dyld_tries(const AppleMachine& machine, const std::string& name,
                                const std::vector<std::pair<std::string, const binary::BinaryInfo*>>& chain) {
  return Tries(machine, name).run(chain);
}

bool in_shared_cache(const AppleMachine& machine, std::string_view path) {
  if (machine.shared_cache.empty()) return path.starts_with("/usr/lib/") || path.starts_with("/System/");
  return std::find(machine.shared_cache.begin(), machine.shared_cache.end(), path) !=
         machine.shared_cache.end();
}

}  // namespace enginehost::linker
