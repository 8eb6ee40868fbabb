#include "host/installations/in_place.hpp"

#include <algorithm>
#include <map>
#include <system_error>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/installations/parts.hpp"

namespace enginehost::installations {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stems[] = {
    "libcudart",         "libcublas",     "libcublasLt", "libcufft",      "libcufftw", "libcurand",
    "libcusolver",       "libcusolverMg", "libcusparse", "libcusparseLt", "libnvrtc",  "libnvJitLink",
    "libnvrtc-builtins", "libnccl",       "libcupti",    "libnvToolsExt", "libcudnn"};
// cuDNN names its parts differently in each version, so every library with this beginning counts, as in
// preflight. A dash marks a renamed copy.
constexpr std::string_view cudnn_part = "libcudnn_";

// A build's own copy; the manifest lives as long as it does.
struct Completed {
  std::shared_ptr<const manifest::Manifest> owner;
  manifest::Build build;
};

// The libraries that a build takes from an installation.
class Parts {
 public:
  // `cuda`: the CUDA major version of the build; 0: it names none.
  Parts(const Installation& installation, CudaMajors& majors, std::int64_t cuda)
      : installation_(installation), majors_(majors), cuda_(cuda) {}

  // Returns false when the installation does not have it.
  bool take_library(const std::string& soname) {
    return take_all([&](const CudaLibrary& one) { return one.soname == soname; });
  }

  // Takes a component of NVIDIA's libraries if the installation has each of them under the same SONAME and
  // for the same CUDA major version, within which CUDA and cuDNN stay compatible.
  bool take_component(const manifest::Component& component) {
    if (component.artifacts.empty()) return false;
    std::vector<std::string> wanted;
    for (const std::string& selected : component.artifacts.front().select)
      if (const std::string name = path_text(path_of(selected).filename());
          name.find(".so") != std::string::npos)
        wanted.push_back(name);
    const auto held = [&](const std::string& pattern) {
      const bool known = !cuda_stem(pattern).empty() || pattern.starts_with("libcudnn*");
      return known &&
             std::any_of(installation_.cuda.begin(), installation_.cuda.end(), [&](const CudaLibrary& one) {
               return matches_pattern(one.soname, pattern) && is_for_the_build(one);
             });
    };
    if (wanted.empty() || !std::all_of(wanted.begin(), wanted.end(), held)) return false;
    for (const std::string& pattern : wanted)
      take_all([&](const CudaLibrary& one) { return matches_pattern(one.soname, pattern); });
    return true;
  }

  std::vector<fs::path> taken;
  std::vector<manifest::InstallationSign> found;  // taken libraries, for people

 private:
  template <class Wanted>
  bool take_all(Wanted wanted) {
    bool any = false;
    for (const CudaLibrary& one : installation_.cuda) {
      if (!wanted(one) || !is_for_the_build(one)) continue;
      any = true;
      const fs::path path = path_of(one.path);
      if (std::find(taken.begin(), taken.end(), path) != taken.end()) continue;
      taken.push_back(path);
      found.push_back({"library", one.soname, one.path});
    }
    return any;
  }

  bool is_for_the_build(const CudaLibrary& library) { return cuda_ == 0 || majors_.of(library) == cuda_; }

  const Installation& installation_;
  CudaMajors& majors_;
  const std::int64_t cuda_;
};

// Returns 12 for a build for CUDA 12.8; 0 for a build that does not say for which.
std::int64_t cuda_of(const manifest::Build& build) {
  if (!build.requires_.cuda) return 0;
  const std::string& toolkit = build.requires_.cuda->toolkit;
  return parse_integer(std::string_view(toolkit).substr(0, toolkit.find('.'))).value_or(0);
}

}  // namespace

std::string_view cuda_stem(std::string_view file_name) {
  const std::size_t ending = file_name.find(".so");
  if (ending == std::string_view::npos) return {};
  const std::string_view stem = file_name.substr(0, ending);
  if (stem.starts_with(cudnn_part) && stem.find('-') == std::string_view::npos) return stem;
  const auto* known = std::find(std::begin(stems), std::end(stems), stem);
  return known != std::end(stems) ? *known : std::string_view();
}

std::vector<CudaLibrary> cuda_libraries_of(const Places& places) {
  std::vector<fs::path> folders = places.libraries;
  for (const fs::path& packages : places.packages)
    for (const std::string& part : names_in(packages / "nvidia"))
      folders.push_back(packages / "nvidia" / path_of(part) / "lib");
  std::map<std::string, std::string> by_soname;
  for (const fs::path& folder : folders)
    for (const std::string& name : names_in(folder)) {
      if (cuda_stem(name).empty()) continue;
      const auto info = binary::read_binary(folder / path_of(name));
      if (!info || info->soname.empty() || info->stand_in || !info->problems.empty()) continue;
      std::error_code error;
      const fs::path by_name = folder / path_of(info->soname);
      by_soname.emplace(info->soname,
                        path_text(fs::is_regular_file(by_name, error) ? by_name : folder / path_of(name)));
    }
  std::vector<CudaLibrary> found;
  for (const auto& [soname, path] : by_soname) found.push_back({soname, path});
  return found;
}

std::vector<std::shared_ptr<const manifest::Build>> completed_builds(const Installation& installation,
                                                                     const manifest::Catalog& catalog) {
  std::vector<std::shared_ptr<const manifest::Build>> completed;
  if (installation.cuda.empty()) return completed;
  const auto places = places_of(installation.path);
  if (!places) return completed;
  CudaMajors majors(installation.cuda);
  for (const auto& build : catalog.builds) {
    if (build->in_place || build->os != "linux") continue;
    auto copy = std::make_shared<Completed>(Completed{build->manifest.lock(), *build});
    Parts parts(installation, majors, cuda_of(*build));
    std::erase_if(copy->build.requires_.libraries,
                  [&](const std::string& wanted) { return parts.take_library(wanted); });
    std::erase_if(copy->build.components, [&](const std::string& id) {
      const auto component = copy->owner->components.find(id);
      return component != copy->owner->components.end() && parts.take_component(component->second);
    });
    if (parts.taken.empty()) continue;
    const Closure closure = close_over(*places, parts.taken);
    auto in_place = std::make_shared<manifest::InPlace>();
    in_place->path = path_text(installation.path);
    in_place->found = std::move(parts.found);
    in_place->dependency_stamps = closure.libraries;
    in_place->identity = identity_of(in_place->dependency_stamps);
    copy->build.id += "-with-" + sha256_hex(in_place->path).substr(0, 8);
    copy->build.digest.clear();  // the digest is of the whole build
    copy->build.search.insert(copy->build.search.end(), closure.libraries.begin(), closure.libraries.end());
    copy->build.in_place = std::move(in_place);
    completed.emplace_back(copy, &copy->build);
  }
  return completed;
}

}  // namespace enginehost::installations
