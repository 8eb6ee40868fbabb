#include "host/installations/cuda_version.hpp"

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/installations/packages.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

// Returns 11 for "libcudart.so.11.0", "libcudart-d0da41ae.so.11.0" or "libcublas.so.11"; 0 for other names.
// Only these libraries have CUDA's version; libcufft and libcusparse count differently.
std::int64_t major_of(std::string_view name) {
  for (const std::string_view stem : {"libcudart", "libcublas", "libcublasLt"}) {
    if (!name.starts_with(stem)) continue;
    const std::string_view rest = name.substr(stem.size());
    if (!rest.starts_with('.') && !rest.starts_with('-')) continue;
    const std::size_t ending = rest.find(".so.");
    if (ending == std::string_view::npos) continue;
    const std::string_view version = rest.substr(ending + 4);
    return parse_integer(version.substr(0, version.find('.'))).value_or(0);
  }
  return 0;
}

bool is_of(std::int64_t major, std::string_view version) {
  return version.substr(0, version.find('.')) == std::to_string(major);
}

// Returns "12.4" for "12.4.127".
std::string two_parts(std::string_view version) {
  const std::size_t dot = version.find('.');
  return std::string(version.substr(0, dot == std::string_view::npos ? dot : version.find('.', dot + 1)));
}

}  // namespace

std::optional<CudaVersion> cuda_version_of(const Places& places, const KnownEngine& engine,
                                           const std::vector<binary::BinaryInfo>& infos,
                                           const fs::path& library_folder) {
  std::int64_t major = 0;
  std::string by;
  for (const binary::BinaryInfo& info : infos)
    for (const std::string& name : info.needed)
      if (const std::int64_t one = major_of(name); one > major) {
        major = one;
        by = name + " is needed by " + info.soname;
      }
  if (major == 0) return std::nullopt;

  std::vector<fs::path> folders = {library_folder};
  folders.insert(folders.end(), places.libraries.begin(), places.libraries.end());
  for (const fs::path& packages : places.packages)
    for (const std::string& part : names_in(packages / "nvidia"))
      folders.push_back(packages / "nvidia" / part / "lib");
  for (const fs::path& folder : folders)
    for (const std::string& name : names_in(folder)) {
      const std::size_t ending = name.find(".so.");
      if (!name.starts_with("libnvrtc-builtins") || ending == std::string::npos) continue;
      const std::string version = two_parts(std::string_view(name).substr(ending + 4));
      if (is_of(major, version) && version.find('.') != std::string::npos)
        return CudaVersion{version, path_text(folder / path_of(name))};
    }
  std::vector<Package> packages = conda_packages(places.prefix, {"cuda-cudart", "cudatoolkit"});
  for (const fs::path& folder : places.packages)
    for (Package& package : python_packages(folder, {"nvidia-cuda-runtime", "nvidia-cuda-runtime-cu*"}))
      packages.push_back(std::move(package));
  for (const Package& package : packages)
    if (is_of(major, package.version))
      return CudaVersion{two_parts(package.version), path_text(package.file)};
  if (!engine.version_file.empty())
    for (const fs::path& folder : places.packages)
      if (const auto said = assigned_text(folder / path_of(engine.version_file), "cuda");
          said && is_of(major, *said))
        return CudaVersion{two_parts(*said), path_text(folder / path_of(engine.version_file))};
  return CudaVersion{std::to_string(major) + ".0", by};
}

}  // namespace enginehost::installations
