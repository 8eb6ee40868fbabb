#include "tools/follow/toolkit.hpp"

#include "base/text.hpp"
#include "tools/follow/inputs.hpp"

namespace enginehost::follow {

Result<std::string> toolkit_of_release(const Derivation& derivation, Memory& memory, const Row& row,
                                       const std::string& version) {
  if (row.cuda != "metadata") return row.cuda;
  const Layout& layout = *find_layout(derivation.plan, row.layout);
  TRY_ASSIGN(const std::vector<Release> releases, derivation.index.releases(layout.project));
  std::string wheel;
  for (const Release& release : releases)
    for (const PublishedFile& file : release.files)
      if (release.version == version && wheel.empty() &&
          matches_pattern(file.file, wheel_pattern(layout, version)))
        wheel = file.file;
  if (wheel.empty()) return std::string();
  if (const auto known = memory.toolkits.find(wheel); known != memory.toolkits.end()) return known->second;
  const auto cuda = read_toolkit(derivation, row, version);
  // A release that is not as the plan describes it has no toolkit that counts; its rows say why if it is
  // chosen.
  if (!cuda && cuda.error().code != Code::release_not_as_planned) return fail(cuda.error());
  return memory.toolkits[wheel] = cuda.value_or("");
}

}  // namespace enginehost::follow
