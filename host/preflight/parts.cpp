// Libraries that open others of the same product by name while they run, and the places from which the
// libraries of one product come.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/search.hpp"
#include "host/preflight/judgments.hpp"

namespace enginehost::preflight {
namespace {

// Libraries that open parts of their own, and how the parts' names begin. Seen in the files of cuDNN 8 and 9,
// CUDA 11 to 13 and MKL 2024.0, 2024.1 and 2026.2.0 (2026-11-28); TensorRT's part is in its error texts
// (NVIDIA/TensorRT#3983). Other libraries contain many names that they only try (profilers, RDMA, other
// GPUs), which prove nothing.
struct Family {
  std::string_view product, library, part;
  bool needed = true;             // the library does nothing without it
  bool one_folder = true;         // both must come from one folder
  bool own_folder_first = false;  // the library looks beside itself before the loader searches
  bool any = false;               // one of its parts is enough
};
constexpr Family families[] = {{"cuDNN", "libcudnn", "libcudnn_"},
                               {"NVRTC", "libnvrtc.", "libnvrtc-builtins."},
                               {"cuDNN", "libcudnn", "libnvrtc.so", false, false},
                               {"TensorRT", "libnvinfer.", "libnvinfer_builder_resource", false},
                               {"MKL", "libmkl_rt.", "libmkl_core.", true, true, true},
                               {"MKL", "libmkl_core.", "libmkl_def.", false, true, true, true},
                               {"MKL", "libmkl_core.", "libmkl_avx", false, true, true, true},
                               {"MKL", "libmkl_core.", "libmkl_mc", false, true, true, true},
                               {"MKL", "libmkl_core.", "libmkl_vml_", false, true, true}};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path_of(path), error);
  return error ? path : path_text(real);
}

// The version at the end of the SONAME: ".9" of libcudnn.so.9, also of a wheel's libcudnn-74a4c495.so.9.1.0.
std::string version_ending(const std::string& soname) {
  const std::size_t at = soname.find(".so.");
  if (at == std::string::npos) return {};
  const bool renamed = soname.find('-') < at;
  return soname.substr(at + 3, renamed ? soname.find('.', at + 4) - at - 3 : std::string::npos);
}

// cuDNN 9 contains "libcudnn_ops.so" and appends the version at the end of its own name.
std::vector<std::string> spellings(const std::string& part, const std::string& soname) {
  std::vector<std::string> all = {part};
  const std::string version = version_ending(soname);
  if (part.ends_with(".so") && !version.empty()) all.insert(all.begin(), part + version);
  return all;
}

bool is_there(const ViewIndex& index, const std::string& file, const std::string& name,
              const std::vector<std::string>& folders) {
  if (!index.find(name).empty() || file_name(file) == name) return true;
  const linker::Machine& machine = index.spec.machine;
  if (machine.cache.find(name, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits)) return true;
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return index.reader.file_exists(folder + "/" + name);
  });
}

std::string soname_of(linker::Reader& reader, const std::string& file) {
  const auto& info = reader.read(file);
  return info && !info->soname.empty() ? info->soname : file_name(file);
}

// True when the file's own RUNPATH or RPATH leads to a library of that name.
bool finds_by_itself(const ViewIndex& index, const std::string& file, const std::string& name) {
  const auto& info = index.reader.read(file);
  if (!info) return false;
  const linker::Machine& machine = index.spec.machine;
  for (const linker::SearchPlace& place : linker::glibc_own_places(machine, {{file, &*info}}))
    if (place.rule != machine.library_path_source && index.reader.file_exists(place.directory + "/" + name))
      return true;
  return false;
}

// The places that dlopen of a name searches when the file calls it: the file's own path, the program's, the
// variable, and the loader's own.
std::vector<linker::SearchPlace> places_searched(const ViewIndex& index, const std::string& file) {
  const linker::Machine& machine = index.spec.machine;
  std::vector<linker::Needer> chain;
  if (const auto& info = index.reader.read(file)) chain.push_back({file, &*info});
  const std::string program = path_text(machine.program);
  if (!program.empty())
    if (const auto& read = index.reader.read(program)) chain.push_back({program, &*read, true});
  std::vector<linker::SearchPlace> places = linker::glibc_own_places(machine, chain);
  for (linker::SearchPlace& place : linker::glibc_shared_places(machine)) places.push_back(std::move(place));
  return places;
}

bool is_accepted(const ViewIndex& index, const std::string& path) {
  if (!index.reader.file_exists(path)) return false;
  const auto& info = index.reader.read(path);
  return info && !linker::refusal_of(index.spec.machine, *info, path, false);
}

// True when the file contains the name as text: in full, or without the version that it appends.
bool asks_for(const ViewIndex& index, const std::string& file, std::string_view part,
              const std::string& name) {
  const std::vector<std::string>& texts = index.library_names(file, part);
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return name == text || name.starts_with(text + "."); });
}

// The release in the name of the file ("9.19.0" of libcudnn_ops.so.9.19.0), or of the wheel that holds it
// (nvidia_cudnn_cu12-9.1.0.70.dist-info beside "nvidia"); empty: neither shows it.
std::string release_of(const linker::Reader& reader, const std::string& path) {
  const std::string real = real_path(path), name = file_name(real);
  const std::size_t at = name.find(".so.");
  if (at != std::string::npos &&
      std::count(name.begin() + static_cast<std::ptrdiff_t>(at) + 4, name.end(), '.') > 0)
    return name.substr(at + 4);
  const std::size_t nvidia = real.rfind("/nvidia/");
  if (nvidia == std::string::npos) return {};
  const std::size_t part = nvidia + 8;
  const std::string package = "nvidia_" + real.substr(part, real.find('/', part) - part) + "_cu";
  for (const std::string& entry : reader.names_in(real.substr(0, nvidia)))
    if (entry.starts_with(package) && entry.ends_with(".dist-info"))
      if (const std::size_t dash = entry.find('-'); dash != std::string::npos)
        return entry.substr(dash + 1, entry.size() - dash - 1 - std::string_view(".dist-info").size());
  return {};
}

// True when both releases are known and the shorter one begins the other: 9.1.0 and 9.1.0.70.
bool same_release(const std::string& a, const std::string& b) {
  const std::string &shorter = a.size() < b.size() ? a : b, &longer = a.size() < b.size() ? b : a;
  return !shorter.empty() && (longer + ".").starts_with(shorter + ".");
}

}  // namespace

std::vector<std::string> folders_searched(const ViewIndex& index, const std::string& file) {
  std::vector<std::string> folders = {folder_of(file)};
  for (const linker::SearchPlace& place : places_searched(index, file))
    if (place.kind == linker::SearchPlace::Kind::folder &&
        std::find(folders.begin(), folders.end(), place.directory) == folders.end())
      folders.push_back(place.directory);
  return folders;
}

const std::vector<std::string>& ViewIndex::library_names(const std::string& file,
                                                         std::string_view prefix) const {
  const auto [known, added] = names_in_files_.try_emplace({file, std::string(prefix)});
  if (!added) return known->second;
  if (auto names = binary::library_names(reader.on_disk(file), prefix)) known->second = std::move(*names);
  return known->second;
}

FoundByName find_by_name(const ViewIndex& index, const std::string& file, const std::string& name) {
  const linker::Machine& machine = index.spec.machine;
  for (const linker::SearchPlace& place : places_searched(index, file)) {
    std::string path = place.directory + "/" + name;
    if (place.kind == linker::SearchPlace::Kind::cache)
      path = machine.cache.find(name, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits)
                 .value_or(std::string());
    if (!path.empty() && is_accepted(index, path)) return {path, place.found_by()};
  }
  return {};
}

std::vector<std::string> files_of_name(const ViewIndex& index, const std::string& file,
                                       const std::string& name) {
  const linker::Machine& machine = index.spec.machine;
  std::vector<std::string> found;
  for (const std::string& folder : folders_searched(index, file))
    if (std::string path = folder + "/" + name; is_accepted(index, path)) found.push_back(std::move(path));
  if (const auto path =
          machine.cache.find(name, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits))
    found.push_back(*path);
  return found;
}

std::vector<std::string> parts_out_of_reach(const ViewIndex& index, const std::vector<std::string>& files) {
  std::vector<std::string> found;
  linker::Reader& reader = index.reader;
  for (const std::string& part : index.libraries()) {
    const std::string name = soname_of(reader, part);
    // LD_LIBRARY_PATH comes before a RUNPATH.
    const auto reaches_it = [&](const std::string& file) {
      if (!finds_by_itself(index, file, name)) return false;
      const std::string first = find_by_name(index, file, name).path;
      return first.empty() || real_path(first) == real_path(part);
    };
    const auto opens_it = [&](const std::string& file, const Family& family) {
      return file != part && name.starts_with(family.part) &&
             soname_of(reader, file).starts_with(family.library) && !reaches_it(file) &&
             asks_for(index, file, family.part, name);
    };
    const bool out_of_reach = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return std::any_of(std::begin(families), std::end(families),
                         [&](const Family& family) { return opens_it(file, family); });
    });
    if (out_of_reach) found.push_back(part);
  }
  return found;
}

std::vector<Diagnosis> missing_parts(const ViewIndex& index, const std::vector<std::string>& files) {
  std::vector<Diagnosis> found;
  for (const std::string& file : files) {
    if (!index.reader.read(file)) continue;
    const std::string name = soname_of(index.reader, file);
    std::vector<std::string> folders;
    const auto is_missing = [&](const std::string& part) {
      if (folders.empty()) folders = folders_searched(index, file);
      const std::vector<std::string> names = spellings(part, name);
      return std::none_of(names.begin(), names.end(),
                          [&](const std::string& one) { return is_there(index, file, one, folders); });
    };
    const auto add = [&](Diagnosis& diagnosis, const std::string& part) {
      diagnosis.with(Key::library, spellings(part, name).front(), "text in " + file);
    };
    Diagnosis diagnosis = diagnose(Code::run_time_library_missing);
    std::vector<std::string> choices;
    for (const Family& family : families) {
      if (!name.starts_with(family.library) || !(family.needed || family.any)) continue;
      const std::vector<std::string>& parts = index.library_names(file, family.part);
      if (family.any) choices.insert(choices.end(), parts.begin(), parts.end());
      for (const std::string& part : parts)
        if (family.needed && is_missing(part)) add(diagnosis, part);
    }
    // MKL falls back to libmkl_def, which is the first and serves every processor.
    if (!choices.empty() && std::all_of(choices.begin(), choices.end(), is_missing))
      add(diagnosis, choices.front());
    if (diagnosis.evidence.empty()) continue;
    diagnosis.with(Key::file, path_text(index.spec.plugin)).with(Key::needed_by, file);
    for (const std::string& folder : folders) diagnosis.with(Key::searched, folder);
    found.push_back(std::move(diagnosis));
  }
  return found;
}

std::vector<std::string> openers_of_parts(const linker::Closure& closure) {
  std::vector<std::string> files;
  for (const linker::Object& object : closure.objects) {
    const std::string name = object.soname.empty() ? file_name(object.path) : object.soname;
    if (object.info != nullptr && object.found_by != "already loaded" &&
        std::any_of(std::begin(families), std::end(families),
                    [&](const Family& family) { return name.starts_with(family.library); }))
      files.push_back(object.path);
  }
  return files;
}

std::vector<Diagnosis> mixed_parts(const ViewIndex& index, const linker::Closure& closure,
                                   const std::vector<std::string>& files) {
  std::map<std::string_view, Diagnosis> by_product;
  std::set<std::string> reported;
  const auto one_source = [&](const std::string& a, const std::string& b) {
    return folder_of(a) == folder_of(b) || folder_of(real_path(a)) == folder_of(real_path(b)) ||
           (index.in_view(a) && index.in_view(b)) ||
           same_release(release_of(index.reader, a), release_of(index.reader, b));
  };
  const auto judge = [&](const Family& family, const std::string& file, const std::string& name) {
    // A library that is open already serves its name; EngineHost opens the build's own first.
    FoundByName found{index.find(name), {}};
    if (const linker::Object* open = closure.find(name); found.path.empty() && open != nullptr)
      found = {open->path, open->found_by};
    if (const std::string beside = folder_of(file) + "/" + name;
        found.path.empty() && family.own_folder_first && is_accepted(index, beside))
      return true;
    if (found.path.empty()) found = find_by_name(index, file, name);
    if (found.path.empty()) return false;
    if (one_source(found.path, file) || !reported.insert(found.path).second) return true;
    Diagnosis& diagnosis = by_product[family.product];
    if (diagnosis.evidence.empty()) {
      diagnosis =
          diagnose(family.product == "cuDNN" ? Code::cudnn_parts_differ : Code::parts_from_two_folders);
      diagnosis.with(Key::file, path_text(index.spec.plugin)).with(Key::product, family.product);
      diagnosis.with(Key::by, found.by).with(Key::others, file);
      if (const std::string release = release_of(index.reader, file); !release.empty())
        diagnosis.with(Key::release, release, file);
      if (const std::string release = release_of(index.reader, found.path); !release.empty())
        diagnosis.with(Key::release_of_part, release, found.path);
    }
    diagnosis.with(Key::library, name, "text in " + file).with(Key::path, found.path, found.by);
    return true;
  };
  for (const std::string& file : files) {
    const std::string soname = soname_of(index.reader, file);
    for (const Family& family : families) {
      if (!family.one_folder || !soname.starts_with(family.library)) continue;
      for (const std::string& part : index.library_names(file, family.part))
        for (const std::string& name : spellings(part, soname))
          if (name != soname && judge(family, file, name)) break;
    }
  }
  std::vector<Diagnosis> found;
  for (auto& [product, diagnosis] : by_product) found.push_back(std::move(diagnosis));
  return found;
}

namespace {

// Returns the folder to which the parts of one installation are laid out: the environment of Python packages,
// the store of Nix or Guix (whose paths name one build each), the folder above "nvidia/cublas/lib", or the
// prefix above "lib".
std::string tree_of(const Spec& spec, const std::string& path) {
  if (!spec.view.empty() && is_below(path_of(path), spec.view)) return path_text(spec.view);
  const std::string folder = generic_text(path_of(real_path(path)).parent_path());
  for (const std::string_view packages : {"/site-packages", "/dist-packages"})
    if (const std::size_t at = (folder + "/").rfind(std::string(packages) + "/"); at != std::string::npos)
      return folder.substr(0, at + packages.size());
  for (const char* store : {"/nix/store", "/gnu/store"})
    if (folder.starts_with(std::string(store) + "/")) return store;
  std::vector<std::string> names = split(folder, '/');
  const auto drop = [&](const std::vector<std::string_view>& ending) {
    if (names.size() <= ending.size() ||
        !std::equal(ending.begin(), ending.end(), names.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](std::string_view pattern, const std::string& name) {
                      return pattern == "*" || pattern == name;
                    }))
      return false;
    names.resize(names.size() - ending.size());
    return true;
  };
  // The folders of wheels and of the toolkit, on Linux and Windows.
  const std::vector<std::string_view> endings[] = {{"nvidia", "*", "lib"},
                                                   {"nvidia", "*", "bin"},
                                                   {"targets", "*", "lib"},
                                                   {"extras", "CUPTI", "lib64"},
                                                   {"nvvm", "lib64"},
                                                   {"bin", "x64"},
                                                   {"lib64"},
                                                   {"lib"},
                                                   {"bin"}};
  for (const auto& ending : endings)
    if (drop(ending)) break;
  return join(names, "/");
}

bool is_package_folder(const std::string& tree) {
  return tree.ends_with("/site-packages") || tree.ends_with("/dist-packages");
}

// Returns the library whose path relative to $ORIGIN leads to the object; null if there is none.
const linker::Object* led_by_origin(const linker::Machine& machine, const linker::Closure& closure,
                                    const linker::Object& object) {
  for (const char* rule : {"RUNPATH of ", "RPATH of "}) {
    if (!object.found_by.starts_with(rule)) continue;
    const linker::Object* owner = closure.find(object.found_by.substr(std::string_view(rule).size()));
    if (owner == nullptr || owner->info == nullptr) return nullptr;
    const auto& elements = owner->info->has_runpath ? owner->info->runpath : owner->info->rpath;
    for (const std::string& element : elements)
      if (element.find("ORIGIN") != std::string::npos &&
          linker::folder_of_element(machine, element, {linker::folder_of_file(owner->path)}) ==
              folder_of(object.path))
        return owner;
  }
  return nullptr;
}

}  // namespace

Sources::Sources(const Spec& spec, const linker::Closure& closure) : spec_(spec) {
  for (const linker::Object& object : closure.objects) {
    const linker::Object* owner = led_by_origin(spec.machine, closure, object);
    if (owner == nullptr) continue;
    const std::string tree = tree_of(spec, object.path), other = tree_of(spec, owner->path);
    if (is_package_folder(tree) && is_package_folder(other)) continue;
    if (const std::string from = root(tree), to = root(other); from != to) joined_[from] = to;
  }
}

std::string Sources::of(const std::string& path) const { return root(tree_of(spec_, path)); }

std::string Sources::root(std::string tree) const {
  for (auto next = joined_.find(tree); next != joined_.end(); next = joined_.find(tree)) tree = next->second;
  return tree;
}

}  // namespace enginehost::preflight
