// What the name of a wheel says (the packaging specification "Binary distribution format").
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace enginehost::publish {

struct WheelName {
  std::string project;   // as the package index writes it: small letters, "-" between words
  std::string version;   // "2.0.1+cpu" keeps its local part
  std::string platform;  // the last tag: "manylinux_2_27_x86_64.manylinux_2_28_x86_64", "win_amd64", "any"
};

// Nothing for a name that is no wheel's: NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl.
std::optional<WheelName> read_wheel_name(const std::string& file);

// What the files of an unpacked wheel say it is, by the folder NAME-VERSION.dist-info; the platform stays
// empty.
std::optional<WheelName> name_within(const std::vector<std::string>& files);

// "Toy_Engine" is "toy-engine": how two spellings of a project are compared.
std::string normal_project(std::string name);

// Whether a wheel of that platform is meant for a system as manifests name it. "any" is for all of them.
bool wheel_is_for(const WheelName& wheel, const std::string& os, const std::string& arch);

}  // namespace enginehost::publish
