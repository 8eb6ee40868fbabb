// The symbol pass over a macOS closure: finds libraries that lack a symbol bound to them. With the two-level
// namespace every import names its library (n_desc of <mach-o/nlist.h>, or the ordinals of
// <mach-o/fixup-chains.h>). dyld searches only that library and those it re-exports (dyld-1378, Loader.cpp:
// resolveSymbol).
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/paths.hpp"
#include "host/linker/dyld.hpp"

namespace enginehost::linker {
namespace {

using Names = std::unordered_set<std::string>;
constexpr int deepest = 64;  // longest chain of re-exports; longer ones would be circular

class SymbolPass {
 public:
  SymbolPass(const AppleMachine& machine, const Closure& closure) : machine_(machine), closure_(closure) {
    for (const Object& object : closure.objects)
      for (const std::string* name : {&object.path, &object.soname, &object.name})
        if (!name->empty()) by_name_.emplace(*name, &object);
  }

  std::vector<Diagnosis> run() {
    for (const Object& object : closure_.objects) {
      if (object.info == nullptr || object.found_by == "already loaded") continue;
      const auto table = binary::read_symbols(on_disk(object.path), object.info->machine);
      if (!table) continue;
      for (const binary::Symbol& symbol : table->imports) check(object, symbol);
    }
    return std::move(found_);
  }

 private:
  std::filesystem::path on_disk(const std::string& path) const {
    return machine_.root.empty() ? path_of(path) : machine_.root / path_of(path).relative_path();
  }

  void check(const Object& importer, const binary::Symbol& symbol) {
    // Without a library, the symbol is looked up in the program and everything it loads, which is mostly
    // unknown here.
    if (symbol.weak || symbol.library.empty()) return;
    const auto provider = by_name_.find(symbol.library);
    if (provider == by_name_.end()) return;  // a missing weak library, or one already reported as missing
    const std::optional<Names>& exports = exports_of(*provider->second, 0);
    if (!exports || exports->count(symbol.name) != 0) return;
    const auto [known, added] =
        reported_.emplace(importer.path + "\n" + provider->second->path, found_.size());
    if (added)
      found_.push_back(
          std::move(diagnose("EH-L12")
                        .with("file", closure_.file)
                        .with("required_by", importer.path)
                        .with("library", symbol.library, "load commands of " + importer.path)
                        .with("expected_in", provider->second->path, provider->second->found_by)));
    found_[known->second].with("symbol", symbol.name, "symbol table of " + importer.path);
  }

  // Returns nothing if the exports are not completely known; no symbol is certainly missing then. System
  // libraries have no files since macOS 11.
  const std::optional<Names>& exports_of(const Object& object, int depth) {
    const auto [known, added] = exports_.try_emplace(&object);
    if (!added || object.info == nullptr || depth > deepest) return known->second;
    const auto table = binary::read_symbols(on_disk(object.path), object.info->machine);
    if (!table || !table->complete) return known->second;
    Names names;
    for (const binary::Symbol& symbol : table->exports) names.insert(symbol.name);
    for (const std::string& library : object.info->reexported) {
      const auto passed_on = by_name_.find(library);
      if (passed_on == by_name_.end()) return exports_[&object];
      const std::optional<Names>& more = exports_of(*passed_on->second, depth + 1);
      if (!more) return exports_[&object];
      names.insert(more->begin(), more->end());
    }
    return exports_[&object] = std::move(names);
  }

  const AppleMachine& machine_;
  const Closure& closure_;
  std::unordered_map<std::string_view, const Object*> by_name_;
  std::unordered_map<const Object*, std::optional<Names>> exports_;
  std::unordered_map<std::string, std::size_t> reported_;
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> missing_macos_symbols(const AppleMachine& machine, const Closure& closure) {
  return SymbolPass(machine, closure).run();
}

}  // namespace enginehost::linker
