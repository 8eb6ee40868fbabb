// Which library should offer a symbol that is missing, and which file would.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
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

// The sorted names that files export; each file is read once.
class ExportedNames {
 public:
  explicit ExportedNames(linker::Reader& reader) : reader_(reader) {}

  const std::vector<std::string>& of(const std::string& file) {
    const auto [known, added] = files_.try_emplace(file);
    if (!added) return known->second;
    if (const auto table = binary::read_symbols(reader_.on_disk(file)))
      for (const binary::Symbol& symbol : table->exports) known->second.push_back(symbol.name);
    std::sort(known->second.begin(), known->second.end());
    return known->second;
  }
  bool has(const std::string& file, const std::string& name) {
    const std::vector<std::string>& names = of(file);
    return std::binary_search(names.begin(), names.end(), name);
  }
  // Returns how much of the name an export of the file shares; 0 if few exports are of its family.
  std::size_t nearness(const std::string& file, const std::string& name) {
    constexpr std::ptrdiff_t fewest = 8;
    const std::string_view family = family_of(name);
    if (family.empty()) return 0;
    const std::vector<std::string>& names = of(file);
    const auto of_family = std::count_if(std::lower_bound(names.begin(), names.end(), family), names.end(),
                                         [&](const std::string& one) { return one.starts_with(family); });
    if (of_family < fewest) return 0;
    const auto next = std::lower_bound(names.begin(), names.end(), name);
    const std::size_t after = next == names.end() ? 0 : shared_beginning(name, *next);
    return std::max(after, next == names.begin() ? 0 : shared_beginning(name, *(next - 1)));
  }

 private:
  linker::Reader& reader_;
  std::map<std::string, std::vector<std::string>> files_;
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
           return symbol.name == missing.value("symbol") && symbol.version == missing.value("version");
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
  ExportedNames names(index.reader);
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> others;  // by importer and library
  const auto others_of = [&](const std::string& importer, const linker::Object& library) {
    const auto [known, added] = others.try_emplace({importer, library.soname});
    if (added) known->second = files_of_name(index, importer, library.soname);
    return known->second;
  };
  for (linker::UndefinedSymbol& symbol : symbols) {
    const linker::Object* importer = closure.find(symbol.required_by);
    if (!symbol.library.empty() || symbol.other_version || importer == nullptr || importer->info == nullptr ||
        !linker::offered_by_program(symbol.name).empty())
      continue;
    std::size_t nearest = 0;
    for (const std::string& name : importer->info->needed) {
      const linker::Object* library = object_named(closure, name);
      if (library == nullptr || library->soname.empty()) continue;
      const auto files = others_of(importer->path, *library);
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
  const std::string library(diagnosis.value("library")), needer(diagnosis.value("required_by"));
  const linker::Object* found = library.empty() ? nullptr : closure.find(library);
  if (found == nullptr) found = library.empty() ? nullptr : object_named(closure, library);
  if (found == nullptr || !diagnosis.value("lent_by").empty()) return;
  diagnosis.with(diagnosis.code == "EH-L15" ? "path" : "expected_in", found->path, found->found_by);
  if (found->found_by == variable)
    diagnosis.with("from_environment", variable, index.spec.machine.library_path_text.value_or(""));
  for (const std::string& path : files_of_name(index, needer, library))
    if (!same_file(path, found->path) && offers(index.reader, path, diagnosis)) {
      diagnosis.with("wanted", path);
      break;
    }
  if (const DroppedSymbols* one = dropped(diagnosis.value("symbol"), library))
    diagnosis.with("last_release", one->last_release);
  if (const auto packages = packages_of(index.reader, found->path); packages.size() > 1)
    for (const std::string& package : packages) diagnosis.with("installed_by", package, "*.dist-info");
}

}  // namespace enginehost::preflight
