#include "host/linker/symbols.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/files.hpp"
#include "base/paths.hpp"

namespace enginehost::linker {
namespace {

// One library's definition of a name.
struct Definition {
  std::size_t member = 0;    // index of the library
  std::string_view version;  // "" = none: serves every version
  bool hidden = false;       // f@V1: serves only references to V1
  bool first = false;  // of the library's first version: serves references without a version, even if hidden
};

// Returns whether the definition serves a reference: glibc elf/dl-lookup.c, check_match; musl ldso/dynlink.c,
// gnu_lookup. findings.cpp has already reported a library without versions from which one is needed.
bool serves(Libc libc, const Definition& definition, std::string_view wanted) {
  if (libc == Libc::musl) return !definition.hidden;
  if (definition.version.empty()) return true;
  if (!wanted.empty()) return definition.version == wanted;
  return !definition.hidden || definition.first;
}

// Libraries that look for their symbols in the same libraries: an opened library with everything it brought
// in (dlopen with RTLD_LOCAL), and preloaded ones. Other libraries of the process may serve them or not.
struct Scope {
  std::vector<std::size_t> importers;
  std::unordered_set<std::size_t> members;
  std::unordered_set<std::size_t> lenders;
  bool whole = true;  // no member is missing, refused or unread
};

class SymbolPass {
 public:
  SymbolPass(const Closure& closure, Reader& reader, const std::filesystem::path& only_below)
      : closure_(closure), only_below_(only_below) {
    for (const Object& object : closure.objects)
      tables_.push_back(binary::read_symbols(reader.on_disk(object.path)));
  }

  SymbolFindings run() {
    for (const Scope& scope : scopes()) check(scope);
    return std::move(findings_);
  }

 private:
  using Definitions = std::unordered_map<std::string_view, std::vector<Definition>>;

  bool wanted(const Object& object) const {
    return object.found_by != "already loaded" &&
           (only_below_.empty() || is_below(path_of(object.path), only_below_));
  }

  std::vector<Scope> scopes() const {
    std::unordered_map<std::string_view, std::size_t> by_name;
    const auto& objects = closure_.objects;
    for (std::size_t i = 0; i < objects.size(); ++i)
      for (const std::string* name : {&objects[i].path, &objects[i].name, &objects[i].soname})
        if (!name->empty()) by_name.emplace(*name, i);
    std::vector<Scope> all;
    std::unordered_map<std::size_t, std::size_t> of_root;  // index of the opened library -> index in `all`
    std::vector<std::size_t> held;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].found_by == "already loaded") {
        held.push_back(i);
        continue;
      }
      std::size_t root = i;
      while (objects[root].parent >= 0) root = static_cast<std::size_t>(objects[root].parent);
      auto [known, added] = of_root.emplace(root, all.size());
      if (added) {
        all.emplace_back();
        add_reachable(root, by_name, all.back().members);
      }
      if (wanted(objects[i])) all[known->second].importers.push_back(i);
    }
    for (Scope& scope : all)
      for (const std::size_t at : held)
        if (!scope.members.contains(at)) (objects[at].global ? scope.members : scope.lenders).insert(at);
    const std::unordered_set<std::string_view> lacking = lacking_a_library();
    for (Scope& scope : all)
      scope.whole = std::none_of(scope.members.begin(), scope.members.end(), [&](std::size_t member) {
        return !tables_[member] || !tables_[member]->complete ||
               lacking.contains(closure_.objects[member].path);
      });
    return all;
  }

  // Returns the libraries that lack a needed library.
  std::unordered_set<std::string_view> lacking_a_library() const {
    std::unordered_set<std::string_view> lacking;
    for (const Missing& missing : closure_.missing) lacking.insert(missing.needed_by);
    for (const Rejected& rejected : closure_.rejected)
      if (rejected.fatal && closure_.find(rejected.path) == nullptr) lacking.insert(rejected.needed_by);
    return lacking;
  }

  void add_reachable(std::size_t root, const std::unordered_map<std::string_view, std::size_t>& by_name,
                     std::unordered_set<std::size_t>& members) const {
    std::vector<std::size_t> pending{root};
    while (!pending.empty()) {
      const std::size_t at = pending.back();
      pending.pop_back();
      if (!members.insert(at).second || closure_.objects[at].info == nullptr) continue;
      for (const auto* names : {&closure_.objects[at].info->needed, &closure_.objects[at].info->optional})
        for (const std::string& name : *names)
          if (const auto found = by_name.find(name); found != by_name.end()) pending.push_back(found->second);
      // A need that was met under another name (a token in it, another link to the same file).
      for (std::size_t i = 0; i < closure_.objects.size(); ++i)
        if (closure_.objects[i].parent == static_cast<int>(at)) pending.push_back(i);
    }
  }

  void check(const Scope& scope) {
    // Only needed exports are stored, because an engine exports a hundred thousand names.
    Definitions definitions;
    for (const std::size_t importer : scope.importers)
      if (tables_[importer])
        for (const binary::Symbol& symbol : tables_[importer]->imports)
          if (!symbol.weak) definitions.try_emplace(symbol.name);
    for (const auto* libraries : {&scope.members, &scope.lenders})
      for (const std::size_t library : *libraries) add_definitions(library, definitions);
    for (const std::size_t importer : scope.importers) {
      if (!tables_[importer]) continue;
      for (const binary::Symbol& symbol : tables_[importer]->imports) {
        ++findings_.checked;
        if (!symbol.weak) judge(symbol, closure_.objects[importer].path, definitions[symbol.name], scope);
      }
    }
  }

  void add_definitions(std::size_t library, Definitions& definitions) const {
    if (!tables_[library]) return;
    const binary::BinaryInfo* info = closure_.objects[library].info;
    const std::string_view first = info != nullptr && !info->version_definitions.empty()
                                       ? std::string_view(info->version_definitions.front())
                                       : std::string_view();
    for (const binary::Symbol& symbol : tables_[library]->exports)
      if (const auto asked = definitions.find(symbol.name); asked != definitions.end())
        asked->second.push_back({library, symbol.version, symbol.hidden_version, symbol.version == first});
  }

  void judge(const binary::Symbol& symbol, const std::string& importer, const std::vector<Definition>& found,
             const Scope& scope) {
    const Definition* lender = nullptr;
    for (const Definition& one : found) {
      if (!serves(closure_.libc, one, symbol.version)) continue;
      if (scope.members.contains(one.member)) return;
      lender = &one;
    }
    UndefinedSymbol undefined{
        symbol.name, symbol.version, symbol.library, importer, !found.empty(), symbol.variable, {}, false};
    // This machine's C library does not show what the recorded one offers; its version number does.
    if (closure_.recorded && symbol.version.starts_with("GLIBC_")) return;
    // A library already reported as missing may export the symbol.
    if (lender == nullptr && !scope.whole) return;
    if (lender == nullptr) {
      findings_.undefined.push_back(std::move(undefined));
      return;
    }
    undefined.other_version = false;
    undefined.lent_by = closure_.objects[lender->member].path;
    findings_.doubtful.push_back(std::move(undefined));
  }

  const Closure& closure_;
  const std::filesystem::path& only_below_;
  std::vector<Result<binary::SymbolTable>> tables_;  // of the closure's objects
  SymbolFindings findings_;
};

}  // namespace

std::string_view offered_by_program(std::string_view name) {
  struct Family {
    std::string_view prefix, program;
  };
  constexpr Family families[] = {{"napi_", "Node.js"},  {"node_api_", "Node.js"}, {"Py_", "Python"},
                                 {"_Py_", "Python"},    {"PyObject_", "Python"},  {"PyModule_", "Python"},
                                 {"PyExc_", "Python"},  {"PyErr_", "Python"},     {"Rf_", "R"},
                                 {"R_", "R"},           {"lua_", "Lua"},          {"luaL_", "Lua"},
                                 {"_ZN2v8", "Node.js"}, {"_ZN4node", "Node.js"},  {"rb_", "Ruby"},
                                 {"JVM_", "Java"},      {"Perl_", "Perl"},        {"Tcl_", "Tcl"},
                                 {"zend_", "PHP"}};
  for (const Family& family : families)
    if (name.starts_with(family.prefix)) return family.program;
  return {};
}

namespace {

// The loader names a symbol's version only if it was linked with one, whether the name exists or not.
Code code_of(const UndefinedSymbol& symbol) {
  if (!symbol.lent_by.empty()) return Code::symbol_missing;
  if (symbol.other_version || !symbol.version.empty()) return Code::symbol_version_missing;
  if (!offered_by_program(symbol.name).empty()) return Code::host_symbol_missing;
  return symbol.variable ? Code::variable_missing : Code::symbol_missing;
}

}  // namespace

SymbolFindings undefined_symbols(const Closure& closure, Reader& reader,
                                 const std::filesystem::path& only_below) {
  return SymbolPass(closure, reader, only_below).run();
}

std::vector<Diagnosis> diagnose_symbols(const std::vector<UndefinedSymbol>& symbols) {
  std::vector<Diagnosis> found;
  std::unordered_map<std::string, std::size_t> by_library;  // code + both libraries -> index in found
  for (const UndefinedSymbol& symbol : symbols) {
    Code code = code_of(symbol);
    const std::string_view program = offered_by_program(symbol.name);
    auto [known, added] = by_library.emplace(
        std::string(text_of(code)) + symbol.required_by + '\0' + symbol.library, found.size());
    if (added)
      found.push_back(std::move(
          diagnose(code).with(Key::file, symbol.required_by).with(Key::required_by, symbol.required_by)));
    Diagnosis& diagnosis = found[known->second];
    if (added && !program.empty()) diagnosis.with(Key::program, program, "the names of its symbols");
    diagnosis.with(Key::symbol, symbol.name, "dynamic symbol table");
    if (!symbol.version.empty()) diagnosis.with(Key::version, symbol.version);
    if (added && !symbol.library.empty()) diagnosis.with(Key::library, symbol.library);
    // dlopen with RTLD_LAZY binds functions when they are called, and variables at once.
    if (added && !symbol.library.empty())
      diagnosis.with(Key::binding, symbol.variable
                                       ? "dlopen fails"
                                       : "dlopen fails with RTLD_NOW, which Python and EngineHost use; with "
                                         "RTLD_LAZY the first call of the function ends the program");
    if (!symbol.lent_by.empty()) diagnosis.with(Key::lent_by, symbol.lent_by, "libraries of this process");
  }
  return found;
}

}  // namespace enginehost::linker
