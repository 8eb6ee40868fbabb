// Which files of a wheel are a component, by a layout of the plan.
#pragma once
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/manifest/catalog.hpp"
#include "tools/follow/plan.hpp"
#include "tools/follow/wheel.hpp"

namespace enginehost::follow {

// The values of {version}, {cuda}, {cuda_digits} and {cuda_major}.
struct Variables {
  std::string version;
  std::string cuda;  // "13.2", or empty
};

// Returns the text with the variables replaced; other braces stay.
std::string filled(std::string_view text, const Variables& variables);
// The same of every text of a value, and of its lists and members.
Json filled_value(const Json& value, const Variables& variables);

// Returns the layout with every text filled.
Layout filled(const Layout& layout, const Variables& variables);

// Returns the artifact of a component: the wheel's selected files with their digests, the tree, the ranges
// and the source. `layout` is filled. Errors: EH-M19: nothing or a link is selected, RECORD does not state a
// selected file, a library of the layout is missing, or a folder of them has one that the layout does not
// name.
Result<manifest::Artifact> choose_files(const Wheel& wheel, const Layout& layout);

// Compares the text of the wheel's license with the plan's digest, where both the license and the layout name
// one. Errors: EH-M19 ("license", "license_file", "expected", "actual") if it changed; as
// WheelReader::text_of().
Result<void> check_license(WheelReader& reader, const Wheel& wheel, const Layout& layout,
                           const Json& licenses);

// Returns the component as a manifest has it.
Json component_of(const manifest::Artifact& artifact, const Layout& layout, const std::string& version);

}  // namespace enginehost::follow
