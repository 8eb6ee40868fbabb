// The symbol pass over a Windows closure (W03): finds older DLLs of the right name that lack imported
// functions.
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "host/linker/windows_names.hpp"

namespace enginehost::linker {
namespace {

// The exports of one DLL.
struct Exports {
  std::unordered_set<std::string> names;
  std::unordered_set<std::uint32_t> ordinals;
};

class SymbolPass {
 public:
  SymbolPass(const WindowsMachine& machine, const WindowsClosure& closure, ForeignReader& reader)
      : machine_(machine), closure_(closure.closure), reader_(reader) {
    for (const Object& object : closure_.objects)
      if (object.info != nullptr) modules_.emplace(module_name(object.path), &object);
  }

  std::vector<Diagnosis> run() {
    for (const Object& object : closure_.objects) {
      if (object.info == nullptr || object.found_by == "already loaded") continue;
      if (const auto table = binary::read_symbols(on_disk(machine_, object.path, reader_)))
        for (const binary::Symbol& symbol : table->imports) check(object, symbol);
    }
    return std::move(found_);
  }

 private:
  void check(const Object& importer, const binary::Symbol& symbol) {
    if (symbol.delayed) return;  // reported at the first call, if ever
    const auto provider = modules_.find(module_name(symbol.library));
    if (provider == modules_.end()) return;
    const std::optional<Exports>& exports = exports_of(*provider->second);
    if (!exports) return;
    const bool served = symbol.name.empty() ? exports->ordinals.count(symbol.ordinal) != 0
                                            : exports->names.count(symbol.name) != 0;
    if (served) return;
    auto [known, added] = reported_.emplace(importer.path + "\n" + provider->second->path, found_.size());
    if (added)
      found_.push_back(std::move(diagnose("EH-W03")
                                     .with("file", closure_.file)
                                     .with("path", provider->second->path, provider->second->found_by)
                                     .with("library", symbol.library)
                                     .with("required_by", importer.path)));
    found_[known->second].with(
        "symbol", symbol.name.empty() ? "ordinal " + std::to_string(symbol.ordinal) : symbol.name,
        "import directory");
  }

  // Returns nothing if the export table cannot be read to its end; no function is certainly missing then.
  const std::optional<Exports>& exports_of(const Object& object) {
    auto [known, added] = exports_.try_emplace(object.path);
    if (!added) return known->second;
    const auto table = binary::read_symbols(on_disk(machine_, object.path, reader_));
    if (!table || !table->complete) return known->second;
    known->second.emplace();
    for (const binary::Symbol& symbol : table->exports) {
      if (!symbol.name.empty()) known->second->names.insert(symbol.name);
      known->second->ordinals.insert(symbol.ordinal);
    }
    return known->second;
  }

  const WindowsMachine& machine_;
  const Closure& closure_;
  ForeignReader& reader_;
  std::unordered_map<std::string, const Object*> modules_;
  std::unordered_map<std::string, std::optional<Exports>> exports_;
  std::unordered_map<std::string, std::size_t> reported_;
  std::vector<Diagnosis> found_;
};

}  // namespace

std::vector<Diagnosis> missing_functions(const WindowsMachine& machine, const WindowsClosure& closure,
                                         ForeignReader& reader) {
  return SymbolPass(machine, closure, reader).run();
}

}  // namespace enginehost::linker
