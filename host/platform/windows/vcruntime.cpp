#include "base/text.hpp"
#include "base/version.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {

// Returns the oldest version among the runtime's libraries. Microsoft keeps one installation consistent, but
// an application's folder, or an old program that replaced one file, may not be. A build that is newer than
// any of the libraries may crash.
Fact<std::string> detect_vcruntime(const Root& root) {
  using TextFact = Fact<std::string>;
  const LibrarySearch libraries(root);
  std::string oldest;
  std::vector<std::string> sources, missing;
  std::string silent;
  for (const std::string name : {"vcruntime140.dll", "msvcp140.dll"}) {
    const auto library = libraries.find(name);
    if (!library) {
      missing.push_back(name);
      continue;
    }
    const auto resources = binary::pe_resources(root.on_disk(library->path));
    std::string version = resources ? resources->file_version : "";
    if (version.empty()) {
      silent = library->path;
      continue;
    }
    if (version.ends_with(".0")) version.resize(version.size() - 2);  // "14.40.33810.0"
    sources.push_back(library->path + " " + version);
    if (oldest.empty() || compare_versions(version, oldest) < 0) oldest = std::move(version);
  }
  if (!missing.empty()) return TextFact::absent(join(missing, ", ") + ": not in " + libraries.places());
  if (!silent.empty()) return TextFact::unknown(silent + " has no version information");
  return TextFact::known(std::move(oldest), join(sources, ", "));
}

}  // namespace enginehost::platform
