#include "host/preflight/judgments.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "host/linker/search.hpp"

namespace enginehost::preflight {
namespace {

// Libraries that open parts of their own, and how the parts' names begin. Seen in the files of cuDNN 8 and 9
// and of CUDA 11 to 13. Other libraries contain many names that they only try (profilers, RDMA, other GPUs),
// which prove nothing.
struct Family {
  std::string_view library, part;
  bool needed = true;  // the library does nothing without it
};
constexpr Family families[] = {
    {"libcudnn", "libcudnn_"}, {"libnvrtc.so", "libnvrtc-builtins."}, {"libcudnn", "libnvrtc.so", false}};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

// cuDNN 9 contains "libcudnn_ops.so" and appends the version at the end of its own name.
std::vector<std::string> spellings(const std::string& part, const std::string& soname) {
  std::vector<std::string> all = {part};
  const std::size_t version = soname.find(".so.");
  if (part.ends_with(".so") && version != std::string::npos)
    all.insert(all.begin(), part + soname.substr(version + 3));
  return all;
}

bool is_there(const Spec& spec, const ViewIndex& index, linker::Reader& reader, const std::string& file,
              const std::string& name, const std::vector<std::string>& folders) {
  if (!index.find(name).empty() || file_name(file) == name) return true;
  const linker::Machine& machine = spec.machine;
  if (machine.cache.find(name, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits)) return true;
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return reader.file_exists(folder + "/" + name); });
}

std::string soname_of(linker::Reader& reader, const std::string& file) {
  const auto& info = reader.read(file);
  return info && !info->soname.empty() ? info->soname : file_name(file);
}

// True when the file's own RUNPATH or RPATH leads to a library of that name.
bool finds_by_itself(const Spec& spec, linker::Reader& reader, const std::string& file,
                     const std::string& name) {
  const auto& info = reader.read(file);
  if (!info) return false;
  for (const linker::SearchPlace& place : linker::glibc_own_places(spec.machine, {{file, &*info}}))
    if (place.rule != spec.machine.library_path_source && reader.file_exists(place.directory + "/" + name))
      return true;
  return false;
}

// Returns the file's own folder, where its parts usually lie, and the folders that dlopen of a name searches
// when the file calls it: the file's own path, the program's, the variable, and the loader's own.
std::vector<std::string> folders_searched(const Spec& spec, linker::Reader& reader, const std::string& file,
                                          const binary::BinaryInfo& info) {
  std::vector<std::string> folders = {folder_of(file)};
  const auto add = [&](const std::string& folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
  };
  std::vector<linker::Needer> chain = {{file, &info}};
  const std::string program = path_text(spec.machine.program);
  if (!program.empty())
    if (const auto& read = reader.read(program)) chain.push_back({program, &*read, true});
  for (const linker::SearchPlace& place : linker::glibc_own_places(spec.machine, chain)) add(place.directory);
  for (const std::string& folder : spec.machine.default_directories) add(folder);
  return folders;
}

// True when the file contains the name as text: in full, or without the version that it appends.
bool asks_for(linker::Reader& reader, const std::string& file, std::string_view part,
              const std::string& name) {
  const auto texts = binary::library_names(reader.on_disk(file), part);
  return texts && std::any_of(texts->begin(), texts->end(), [&](const std::string& text) {
           return name == text || name.starts_with(text + ".");
         });
}

}  // namespace

std::vector<std::string> parts_out_of_reach(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                            const std::vector<std::string>& files) {
  std::vector<std::string> found;
  for (const std::string& part : index.libraries()) {
    const std::string name = soname_of(reader, part);
    const auto opens_it = [&](const std::string& file, const Family& family) {
      return file != part && name.starts_with(family.part) &&
             soname_of(reader, file).starts_with(family.library) &&
             !finds_by_itself(spec, reader, file, name) && asks_for(reader, file, family.part, name);
    };
    const bool out_of_reach = std::any_of(files.begin(), files.end(), [&](const std::string& file) {
      return std::any_of(std::begin(families), std::end(families),
                         [&](const Family& family) { return opens_it(file, family); });
    });
    if (out_of_reach) found.push_back(part);
  }
  return found;
}

std::vector<Diagnosis> missing_parts(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                     const std::vector<std::string>& files) {
  std::vector<Diagnosis> found;
  for (const std::string& file : files) {
    const auto& info = reader.read(file);
    if (!info) continue;
    const std::string name = info->soname.empty() ? file_name(file) : info->soname;
    const auto family = std::find_if(std::begin(families), std::end(families), [&](const Family& known) {
      return known.needed && name.starts_with(known.library);
    });
    if (family == std::end(families)) continue;
    const auto parts = binary::library_names(reader.on_disk(file), family->part);
    if (!parts) continue;
    const std::vector<std::string> folders = folders_searched(spec, reader, file, *info);
    Diagnosis diagnosis = diagnose("EH-R15");
    for (const std::string& part : *parts) {
      const std::vector<std::string> names = spellings(part, name);
      if (std::any_of(names.begin(), names.end(), [&](const std::string& one) {
            return is_there(spec, index, reader, file, one, folders);
          }))
        continue;
      diagnosis.with("library", names.front(), "text in " + file);
    }
    if (diagnosis.evidence.empty()) continue;
    diagnosis.with("file", path_text(spec.plugin)).with("needed_by", file);
    for (const std::string& folder : folders) diagnosis.with("searched", folder);
    found.push_back(std::move(diagnosis));
  }
  return found;
}

}  // namespace enginehost::preflight
