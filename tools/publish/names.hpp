// Names of wheels (the packaging specification "Binary distribution format"), and whether a manifest can name
// every file that an archive unpacks to (acquire::named_files).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace enginehost::publish {

struct WheelName {
  std::string project;   // as the package index writes it: lower case, "-" between words
  std::string version;   // "2.0.1+cpu" keeps its local part
  std::string platform;  // the last tag: "manylinux_2_27_x86_64.manylinux_2_28_x86_64", "win_amd64", "any"
};

// Returns nothing for a name that is not NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl.
std::optional<WheelName> read_wheel_name(const std::string& file);

// Derives the name from an unpacked wheel's folder NAME-VERSION.dist-info; the platform stays empty.
std::optional<WheelName> name_within(const std::vector<std::string>& files);

// Normalizes a project's name for comparison: "Toy_Engine" gives "toy-engine".
std::string normal_project(std::string name);

// Returns whether a wheel of that platform is for a system as manifests name it. "any" is for all of them.
bool wheel_is_for(const WheelName& wheel, const std::string& os, const std::string& arch);

// Returns the first path that a tree may have and a manifest may not (with a ":", for example); empty if
// there is none. Such a tree is named by its id alone.
std::string unnameable_path(const std::vector<std::string>& paths);

// Returns whether a manifest of `document_bytes` without them has room for these files. The estimate is never
// below what Workspace::write_json() writes, except for paths with characters that JSON escapes. False also
// for a path that no manifest holds.
bool names_fit(const std::vector<std::string>& paths, std::uint64_t document_bytes);

}  // namespace enginehost::publish
