#include "host/preflight/opened_by_name.hpp"

#include <algorithm>

#include "base/paths.hpp"

namespace enginehost::preflight {
namespace {

// Which library opens parts of its own, and how their names begin. Seen in the files of cuDNN 8 and 9 and of
// CUDA 11 to 13; other libraries hold names of many that they only try (profilers, RDMA, other GPUs), which
// say nothing.
struct Family {
  std::string_view library, part;
};
constexpr Family families[] = {{"libcudnn", "libcudnn_"}, {"libnvrtc.so", "libnvrtc-builtins."}};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/')); }

// cuDNN 9 holds "libcudnn_ops.so" and adds the version that its own name ends with.
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

}  // namespace

std::vector<Diagnosis> missing_parts(const Spec& spec, const ViewIndex& index, linker::Reader& reader,
                                     const std::vector<std::string>& files) {
  std::vector<Diagnosis> found;
  for (const std::string& file : files) {
    const auto& info = reader.read(file);
    if (!info) continue;
    const std::string name = info->soname.empty() ? file_name(file) : info->soname;
    const auto family = std::find_if(std::begin(families), std::end(families),
                                     [&](const Family& known) { return name.starts_with(known.library); });
    if (family == std::end(families)) continue;
    const auto parts = binary::library_names(reader.on_disk(file), family->part);
    if (!parts) continue;
    std::vector<std::string> folders = {folder_of(file)};
    folders.insert(folders.end(), spec.machine.library_path.begin(), spec.machine.library_path.end());
    folders.insert(folders.end(), spec.machine.default_directories.begin(),
                   spec.machine.default_directories.end());
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
