#include "host/installations/parts.hpp"

#include <algorithm>
#include <fstream>

#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

// Returns the first number after the mark, at its first place in the text where a number follows; else 0.
std::int64_t number_after(std::string_view text, std::string_view mark) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    const std::string_view rest = text.substr(at + mark.size(), 3);
    const std::size_t end = rest.find('.');
    if (end == std::string_view::npos) continue;
    if (const auto number = parse_integer(rest.substr(0, end))) return *number;
  }
  return 0;
}

// Returns the major version of the compiler that made a library's device code, as the code's notes and NCCL's
// own text name it. Reads at most 64 MiB, within which all of NVIDIA's libraries that need it have a mark.
std::int64_t compiler_of(const fs::path& file) {
  constexpr std::size_t part = 1u << 20, most = 64;
  constexpr std::string_view marks[] = {"Cuda compilation tools, release ", "NCCL version "};
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  for (std::size_t i = 0; i < most && stream; ++i) {
    text.erase(0, text.size() > 64 ? text.size() - 64 : 0);  // a mark may lie across two parts
    const std::size_t before = text.size();
    text.resize(before + part);
    stream.read(text.data() + before, part);
    text.resize(before + static_cast<std::size_t>(stream.gcount()));
    if (const std::int64_t major = number_after(text, marks[0])) return major;
    if (const std::size_t at = text.find(marks[1]); at != std::string::npos)
      if (const std::int64_t major = number_after(std::string_view(text).substr(at, 48), "+cuda"))
        return major;
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
      if (const std::int64_t one = cuda_major_of_name(name); one > major) {
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

std::int64_t cuda_major_of_name(std::string_view name) {
  const std::size_t ending = name.find(".so.");
  if (ending == std::string_view::npos) return 0;
  // An engine's renamed copy: "libcudart-d0da41ae.so.11.0".
  const std::string_view stem = name.substr(0, std::min(name.find('-'), ending));
  const std::string_view version = name.substr(ending + 4);
  const std::int64_t number = parse_integer(version.substr(0, version.find('.'))).value_or(0);
  for (const char* one : {"libcudart", "libcublas", "libcublasLt", "libnvrtc", "libnvJitLink", "libcupti"})
    if (stem == one) return number;
  // cuFFT 11 came with CUDA 12, and 12 with 13; its 10 is of CUDA 10 and 11.
  if ((stem == "libcufft" || stem == "libcufftw") && number > 10) return number + 1;
  return 0;
}

CudaMajors::CudaMajors(const std::vector<CudaLibrary>& libraries) : libraries_(libraries) {
  for (const CudaLibrary& library : libraries) {
    const std::int64_t major = cuda_major_of_name(library.soname);
    if (major == 0) continue;
    if (of_names_ != 0 && of_names_ != major) {
      of_names_ = 0;
      return;
    }
    of_names_ = major;
  }
}

std::int64_t CudaMajors::of(const CudaLibrary& library) {
  if (const std::int64_t major = cuda_major_of_name(library.soname)) return major;
  const auto found = known_.find(library.path);
  return found != known_.end() ? found->second : known_[library.path] = read(library);
}

std::int64_t CudaMajors::read(const CudaLibrary& library) {
  if (const auto info = binary::read_binary(path_of(library.path)))
    for (const std::string& name : info->needed)
      if (const std::int64_t major = cuda_major_of_name(name)) return major;
  if (const std::int64_t major = compiler_of(path_of(library.path))) return major;
  if (library.soname.starts_with("libcudnn"))
    // libcudnn itself and some parts have no device code. These two are small and have.
    for (const char* stem : {"libcudnn_cnn.so", "libcudnn_ops.so"})
      for (const CudaLibrary& part : libraries_)
        if (part.path != library.path && part.soname.starts_with(stem))
          if (const std::int64_t major = compiler_of(path_of(part.path))) return major;
  return of_names_;
}

}  // namespace enginehost::installations
