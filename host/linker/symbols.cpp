#include "host/linker/symbols.hpp"

#include <unordered_map>
#include <unordered_set>

#include "base/files.hpp"

namespace enginehost::linker {
namespace {

// What the closure exports: for each name the versions it comes in.
class Exports {
 public:
  void add(const binary::SymbolTable& table) {
    for (const binary::Symbol& symbol : table.exports) {
      names_[symbol.name].insert(symbol.version);
    }
  }
  void add_name(const std::string& name) { names_[name].insert(""); }
  bool has_name(const std::string& name) const { return names_.count(name) != 0; }
  bool serves(const std::string& name, const std::string& version) const {
    const auto found = names_.find(name);
    if (found == names_.end()) return false;
    if (version.empty()) return true;  // the loader takes any version for an import that has none
    // A definition without version serves every version.
    return found->second.count(version) != 0 || found->second.count("") != 0;
  }

 private:
  std::unordered_map<std::string, std::unordered_set<std::string>> names_;  // name -> versions
};

// The program whose extensions use such names: its own executable exports them (Node-API, Python's, R's and
// Lua's C interfaces).
std::string_view offered_by_program(std::string_view name) {
  struct Family {
    std::string_view prefix, program;
  };
  constexpr Family families[] = {{"napi_", "Node.js"}, {"node_api_", "Node.js"}, {"Py_", "Python"},
                                 {"_Py_", "Python"},   {"PyObject_", "Python"},  {"PyModule_", "Python"},
                                 {"PyExc_", "Python"}, {"PyErr_", "Python"},     {"Rf_", "R"},
                                 {"R_", "R"},          {"lua_", "Lua"},          {"luaL_", "Lua"}};
  for (const Family& family : families)
    if (name.starts_with(family.prefix)) return family.program;
  return {};
}

}  // namespace

SymbolFindings undefined_symbols(const Closure& closure, Reader& reader,
                                 const std::filesystem::path& only_below,
                                 const std::vector<std::string>& exported_by_host) {
  SymbolFindings findings;
  Exports exports;
  for (const std::string& name : exported_by_host) exports.add_name(name);
  struct Importer {
    const Object* object;
    std::vector<binary::Symbol> imports;
  };
  std::vector<Importer> importers;
  for (const Object& object : closure.objects) {
    Result<binary::SymbolTable> table = binary::read_symbols(reader.on_disk(object.path));
    if (!table || !table->complete) findings.unread.push_back(object.path);
    if (!table) continue;
    exports.add(*table);
    const bool wanted = only_below.empty() || is_below(object.path, only_below);
    if (wanted && object.found_by != "already loaded")
      importers.push_back({&object, std::move(table->imports)});
  }
  for (const Importer& importer : importers)
    for (const binary::Symbol& symbol : importer.imports) {
      ++findings.checked;
      if (symbol.weak || exports.serves(symbol.name, symbol.version)) continue;
      findings.undefined.push_back({symbol.name, symbol.version, symbol.library, importer.object->path,
                                    exports.has_name(symbol.name), symbol.variable});
    }
  return findings;
}

std::vector<Diagnosis> diagnose_symbols(const SymbolFindings& findings) {
  std::vector<Diagnosis> found;
  std::unordered_map<std::string, std::size_t> by_library;  // code + library -> index in found
  for (const UndefinedSymbol& symbol : findings.undefined) {
    const std::string_view program = offered_by_program(symbol.name);
    // The loader names the version of a symbol only when it was linked with one, whether the name is there or
    // not.
    const std::string code = symbol.other_version || !symbol.version.empty() ? "EH-L15"
                             : !program.empty()                              ? "EH-L16"
                             : symbol.variable                               ? "EH-L14"
                                                                             : "EH-L12";
    auto [known, added] = by_library.emplace(code + symbol.required_by, found.size());
    if (added)
      found.push_back(
          std::move(diagnose(code).with("file", symbol.required_by).with("required_by", symbol.required_by)));
    Diagnosis& diagnosis = found[known->second];
    if (added && !program.empty()) diagnosis.with("program", program, "the names of its symbols");
    diagnosis.with("symbol", symbol.name, "dynamic symbol table");
    if (!symbol.version.empty()) diagnosis.with("version", symbol.version);
    if (!symbol.library.empty()) diagnosis.with("library", symbol.library);
  }
  return found;
}

}  // namespace enginehost::linker
