// Which releases of other projects the wheel of a row requires.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/metadata.hpp"
#include "tools/follow/payload.hpp"
#include "tools/follow/wheel.hpp"

namespace enginehost::follow {

// Finds files of releases, as the index lists them now.
struct Choice {
  Index& index;
  const NameMemory& memory;
};

// Returns the file of the newest release in all `ranges`, without pre-releases unless a range names one. In
// `wheel_pattern`, {version} is the release. Of several files the first by name counts. Errors: EH-M19: no
// release is in the ranges, none has such a file, it is yanked, or its digest changed. Those of
// Index::releases().
Result<PublishedFile> choose_release(const Choice& choice, const std::string& project,
                                     const std::vector<std::string>& ranges,
                                     const std::string& wheel_pattern);

// A project that a wheel requires, and where that is written.
struct Need {
  std::string project;
  std::vector<std::string> ranges;
  std::vector<std::string> sources;  // names of wheels
};

struct Needs {
  std::vector<Need> projects;  // by name
  std::string cuda;            // the toolkit's version, "13.2"; empty: the wheel does not say
  const Need* find(const std::string& project) const;
};

// Returns what the wheel requires of NVIDIA's projects and of `others`, on that system. The metapackage
// cuda-toolkit stands for what its own METADATA requires. Errors: EH-M19: a condition cannot be decided here,
// or the metapackage is not named by one version. As choose_release() and WheelReader::read().
Result<Needs> needs_of(const Wheel& wheel, const Target& target, const std::vector<std::string>& others,
                       const Choice& choice, WheelReader& reader);

}  // namespace enginehost::follow
