// Parses the names of wheels (the packaging specification "Binary distribution format").
#pragma once
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

}  // namespace enginehost::publish
