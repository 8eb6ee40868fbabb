// Which library should offer a symbol that is missing, and which file would.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "host/linker/symbols.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

// Symbols that a library offered until some release.
struct DroppedSymbols {
  std::string_view prefix, library, last_release;
};
// Files of the wheels mkl 2024.0.0 and 2024.1.0, compared on 2026-11-28 (pytorch/pytorch#123097).
constexpr DroppedSymbols dropped_symbols[] = {
    {"iJIT_", "libmkl_core.so.",
     "MKL 2024.0 or older: conda package \"mkl<2024.1\", package index "
     "\"mkl<2024.1\""}};

const DroppedSymbols* dropped(std::string_view symbol, std::string_view library) {
  for (const DroppedSymbols& one : dropped_symbols)
    if (symbol.starts_with(one.prefix) && library.starts_with(one.library)) return &one;
  return nullptr;
}

// Returns the beginning that a library's names share: "nccl" of ncclCommRegister, "av_" of av_malloc,
// "_ZN3c10" of the C++ names in the namespace c10. Empty: there is none.
std::string_view family_of(std::string_view name) {
  const auto is = [&](std::size_t at, int (*kind)(int)) {
    return at < name.size() && kind(static_cast<unsigned char>(name[at])) != 0;
  };
  if (name.starts_with("_ZN")) {
    std::size_t at = name.find_first_not_of("KVr", 3), length = 0;
    for (; is(at, std::isdigit) && length < name.size(); ++at)
      length = length * 10 + static_cast<std::size_t>(name[at] - '0');
    return length == 0 || at + length > name.size() ? std::string_view() : name.substr(0, at + length);
  }
  for (std::size_t i = 2; i < name.size(); ++i) {
    if (name[i] == '_') return name.substr(0, i + 1);
    if (i > 2 && is(i, std::isupper) && is(i - 1, std::islower)) return name.substr(0, i);
  }
  return {};
}

std::size_t shared_beginning(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// True for names of which the program that opens the file offers most: Python's are more than its families.
bool is_of_program(std::string_view name) {
  return !linker::offered_by_program(name).empty() ||
         (name.size() > 2 && name.starts_with("Py") &&
          std::isupper(static_cast<unsigned char>(name[2])) != 0);
}

// The exports of files that are missing symbols or of their families. Each file is read once: an engine
// exports a million names.
class ExportedNames {
 public:
  ExportedNames(linker::Reader& reader, const std::vector<linker::UndefinedSymbol>& symbols)
      : reader_(reader) {
    for (const linker::UndefinedSymbol& symbol : symbols) {
      wanted_.insert(symbol.name);
      if (const std::string_view family = family_of(symbol.name); !family.empty()) families_.insert(family);
    }
  }

  bool has(const std::string& file, const std::string& name) { return of(file).names.contains(name); }
  // Returns how much of the name an export of the file shares; 0 if few exports are of its family.
  std::size_t nearness(const std::string& file, const std::string& name) {
    constexpr std::size_t fewest = 8;
    const std::string_view family = family_of(name);
    if (family.empty()) return 0;
    std::size_t nearest = 0;
    const std::vector<std::string>& relatives = of(file).relatives[family];
    for (const std::string& one : relatives) nearest = std::max(nearest, shared_beginning(name, one));
    return relatives.size() < fewest ? 0 : nearest;
  }

 private:
  struct Exports {
    std::unordered_set<std::string> names;
    std::map<std::string_view, std::vector<std::string>> relatives;  // by family
  };
  Exports& of(const std::string& file) {
    constexpr std::size_t most = 4096;  // of a family
    const auto [known, added] = files_.try_emplace(file);
    if (!added) return known->second;
    if (const auto table = binary::read_symbols(reader_.on_disk(file)))
      for (const binary::Symbol& symbol : table->exports) {
        if (wanted_.contains(symbol.name)) known->second.names.insert(symbol.name);
        const auto family = families_.find(family_of(symbol.name));
        if (family == families_.end()) continue;
        std::vector<std::string>& relatives = known->second.relatives[*family];
        if (relatives.size() < most) relatives.push_back(symbol.name);
      }
    return known->second;
  }

  linker::Reader& reader_;
  std::unordered_set<std::string_view> wanted_, families_;  // they refer to the symbols
  std::map<std::string, Exports> files_;
};

// The wheels that have each written the file, as nvidia-nccl-cu12 and -cu13 write nvidia/nccl/lib: the one
// installed last wins.
std::vector<std::string> packages_of(const linker::Reader& reader, const std::string& path) {
  std::vector<std::string> found;
  const std::size_t nvidia = path.rfind("/nvidia/");
  if (nvidia == std::string::npos) return found;
  const std::size_t part = nvidia + std::string_view("/nvidia/").size();
  const std::string package = "nvidia_" + path.substr(part, path.find('/', part) - part) + "_cu";
  for (const std::string& entry : reader.names_in(path.substr(0, nvidia)))
    if (entry.starts_with(package) && entry.ends_with(".dist-info")) {
      std::string name = entry.substr(0, entry.find('-'));
      std::replace(name.begin(), name.end(), '_', '-');
      found.push_back(std::move(name));
    }
  std::sort(found.begin(), found.end());
  return found;
}

bool offers(linker::Reader& reader, const std::string& file, const Diagnosis& missing) {
  const auto table = binary::read_symbols(reader.on_disk(file));
  return table && std::any_of(table->exports.begin(), table->exports.end(), [&](const auto& symbol) {
           return symbol.name == missing.value(Key::symbol) && symbol.version == missing.value(Key::version);
         });
}

const linker::Object* object_named(const linker::Closure& closure, const std::string& name) {
  for (const linker::Object& object : closure.objects)
    if (object.info != nullptr && (object.name == name || object.soname == name)) return &object;
  return nullptr;
}

}  // namespace

void name_libraries(const ViewIndex& index, const linker::Closure& closure,
                    std::vector<linker::UndefinedSymbol>& symbols) {
  std::vector<linker::UndefinedSymbol> asked = symbols;
  std::erase_if(asked, [](const auto& symbol) { return is_of_program(symbol.name); });
  ExportedNames names(index.reader, asked);
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> others;  // by importer and library
  const auto others_of = [&](const std::string& importer,
                             const linker::Object& library) -> const std::vector<std::string>& {
    const auto [known, added] = others.try_emplace({importer, library.soname});
    if (added) known->second = files_of_name(index, importer, library.soname);
    return known->second;
  };
  for (linker::UndefinedSymbol& symbol : symbols) {
    const linker::Object* importer = closure.find(symbol.required_by);
    if (!symbol.library.empty() || symbol.other_version || importer == nullptr || importer->info == nullptr ||
        is_of_program(symbol.name))
      continue;
    std::size_t nearest = 0;
    for (const std::string& name : importer->info->needed) {
      const linker::Object* library = object_named(closure, name);
      if (library == nullptr || library->soname.empty()) continue;
      const std::vector<std::string>& files = others_of(importer->path, *library);
      const bool certain = dropped(symbol.name, name) != nullptr ||
                           std::any_of(files.begin(), files.end(), [&](const std::string& file) {
                             return !same_file(file, library->path) && names.has(file, symbol.name);
                           });
      const std::size_t near = certain ? symbol.name.size() + 1 : names.nearness(library->path, symbol.name);
      if (near <= nearest) continue;
      nearest = near;
      symbol.library = name;
      symbol.likely = !certain;
    }
  }
}

void explain_missing_symbol(const ViewIndex& index, const linker::Closure& closure, Diagnosis& diagnosis) {
  constexpr std::string_view variable = "LD_LIBRARY_PATH";
  const std::string library(diagnosis.value(Key::library)), needer(diagnosis.value(Key::required_by));
  const linker::Object* found = library.empty() ? nullptr : closure.find(library);
  if (found == nullptr) found = library.empty() ? nullptr : object_named(closure, library);
  if (found == nullptr || !diagnosis.value(Key::lent_by).empty()) return;
  diagnosis.with(diagnosis.code == Code::symbol_version_missing ? Key::path : Key::expected_in, found->path,
                 found->found_by);
  if (found->found_by == variable)
    diagnosis.with(Key::from_environment, variable, index.spec.machine.library_path_text.value_or(""));
  for (const std::string& path : files_of_name(index, needer, library))
    if (!same_file(path, found->path) && offers(index.reader, path, diagnosis)) {
      diagnosis.with(Key::wanted, path);
      break;
    }
  if (const DroppedSymbols* one = dropped(diagnosis.value(Key::symbol), library))
    diagnosis.with(Key::last_release, one->last_release);
  if (const auto packages = packages_of(index.reader, found->path); packages.size() > 1)
    for (const std::string& package : packages) diagnosis.with(Key::installed_by, package, "*.dist-info");
}

}  // namespace enginehost::preflight
