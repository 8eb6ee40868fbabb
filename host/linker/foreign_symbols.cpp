// The symbol passes over Windows and macOS closures: find libraries that lack a symbol bound to them.
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/paths.hpp"
#include "host/linker/dyld.hpp"
#include "host/linker/windows.hpp"

namespace enginehost::linker {
namespace {

using Names = std::unordered_set<std::string>;
constexpr int deepest_reexport = 64;  // longest chain of re-exports; longer ones would be circular

struct ForeignSymbolRules {
  std::function<std::string(const Object&)> on_disk;
  // The names by which importers know a library of the closure, and the one that an import has for it ("" =
  // it is not checked).
  std::function<std::vector<std::string>(const Object&)> names_of;
  std::function<std::string(const binary::Symbol&)> provider_of;
  std::function<Diagnosis(const Object& importer, const Object& provider, const binary::Symbol&)> report;
  std::function<std::string(const Object& importer)> source;  // of the symbols
};

// The name under which exports are compared. Without a name, a PE symbol has only a number.
std::string name_of(const binary::Symbol& symbol) {
  return symbol.name.empty() ? "ordinal " + std::to_string(symbol.ordinal) : symbol.name;
}

class ForeignSymbolPass {
 public:
  ForeignSymbolPass(const Closure& closure, const ForeignSymbolRules& rules)
      : closure_(closure), rules_(rules) {
    for (const Object& object : closure.objects)
      for (std::string& name : rules.names_of(object))
        if (!name.empty()) by_name_.emplace(std::move(name), &object);
  }

  std::vector<Diagnosis> run() {
    for (const Object& object : closure_.objects) {
      if (object.info == nullptr || object.found_by == "already loaded") continue;
      if (const auto table = binary::read_symbols(path_of(rules_.on_disk(object)), object.info->machine))
        for (const binary::Symbol& symbol : table->imports) check(object, symbol);
    }
    return std::move(found_);
  }

 private:
  void check(const Object& importer, const binary::Symbol& symbol) {
    const auto provider = by_name_.find(rules_.provider_of(symbol));
    if (provider == by_name_.end()) return;  // not checked, or a library already reported as missing
    const std::optional<Names>& exports = exports_of(*provider->second, 0);
    if (!exports || exports->contains(name_of(symbol))) return;
    const auto [known, added] =
        reported_.emplace(importer.path + "\n" + provider->second->path, found_.size());
    if (added) found_.push_back(rules_.report(importer, *provider->second, symbol));
    found_[known->second].with(Key::symbol, name_of(symbol), rules_.source(importer));
  }

  // Returns nothing if the exports are not completely known; no symbol is certainly missing then. Libraries
  // of the system may have no file.
  const std::optional<Names>& exports_of(const Object& object, int depth) {
    const auto [known, added] = exports_.try_emplace(&object);
    if (!added || object.info == nullptr || depth > deepest_reexport) return known->second;
    const auto table = binary::read_symbols(path_of(rules_.on_disk(object)), object.info->machine);
    if (!table || !table->complete) return known->second;
    Names names;
    for (const binary::Symbol& symbol : table->exports) {
      names.insert(name_of(symbol));
      if (object.info->kind == binary::Kind::pe) names.insert("ordinal " + std::to_string(symbol.ordinal));
    }
    for (const std::string& library : object.info->reexported) {
      const auto passed_on = by_name_.find(library);
      if (passed_on == by_name_.end()) return exports_[&object];
      const std::optional<Names>& more = exports_of(*passed_on->second, depth + 1);
      if (!more) return exports_[&object];
      names.insert(more->begin(), more->end());
    }
    return exports_[&object] = std::move(names);
  }

  const Closure& closure_;
  const ForeignSymbolRules& rules_;
  std::unordered_map<std::string, const Object*> by_name_;
  std::unordered_map<const Object*, std::optional<Names>> exports_;
  std::unordered_map<std::string, std::size_t> reported_;
  std::vector<Diagnosis> found_;
};

}  // namespace

// With the two-level namespace every import names its library (n_desc of <mach-o/nlist.h>, or the ordinals of
// <mach-o/fixup-chains.h>). dyld searches only that library and those it re-exports (dyld-1378, Loader.cpp:
// resolveSymbol). Without a library, the symbol is looked up in the program and everything it loads, which is
// mostly unknown here.
std::vector<Diagnosis> missing_macos_symbols(const AppleMachine& machine, const Closure& closure) {
  const ForeignSymbolRules rules{
      [&](const Object& object) {
        return machine.root.empty() ? object.path
                                    : path_text(machine.root / path_of(object.path).relative_path());
      },
      [](const Object& object) {
        return std::vector{object.path, object.soname, object.name};
      },
      [](const binary::Symbol& symbol) { return symbol.weak ? std::string() : symbol.library; },
      [&](const Object& importer, const Object& provider, const binary::Symbol& symbol) {
        return diagnose(Code::symbol_missing)
            .with(Key::file, closure.file)
            .with(Key::required_by, importer.path)
            .with(Key::library, symbol.library, "load commands of " + importer.path)
            .with(Key::expected_in, provider.path, provider.found_by);
      },
      [](const Object& importer) { return "symbol table of " + importer.path; }};
  return ForeignSymbolPass(closure, rules).run();
}

std::vector<Diagnosis> missing_functions(const WindowsMachine& machine, const WindowsClosure& closure,
                                         Reader& reader) {
  const ForeignSymbolRules rules{
      [&](const Object& object) { return on_disk(machine, object.path, reader); },
      [](const Object& object) {
        return object.info == nullptr ? std::vector<std::string>() : std::vector{module_name(object.path)};
      },
      // A delayed import is reported at the first call, if ever.
      [](const binary::Symbol& symbol) {
        return symbol.delayed ? std::string() : module_name(symbol.library);
      },
      [&](const Object& importer, const Object& provider, const binary::Symbol& symbol) {
        return diagnose(Code::dll_function_missing)
            .with(Key::file, closure.closure.file)
            .with(Key::path, provider.path, provider.found_by)
            .with(Key::library, symbol.library)
            .with(Key::required_by, importer.path);
      },
      [](const Object&) { return std::string("import directory"); }};
  return ForeignSymbolPass(closure.closure, rules).run();
}

}  // namespace enginehost::linker
