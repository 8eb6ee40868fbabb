// A plan file: which projects of the package index give which builds of an engine.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::follow {

// Texts of a plan may hold {version}, {minor} (its first two numbers), {cuda} ("13.2"), {cuda_digits} ("132")
// and {cuda_major} ("13"). The last three are those of the row's wheel.

// Which files of a project's wheel are a component.
struct Layout {
  std::string project;    // of the package index
  std::string wheel;      // pattern of the file's name: "onnxruntime-{version}-cp*-manylinux_*_x86_64.whl"
  std::string component;  // id
  std::string license;    // key of the plan's licenses
  // Pattern of the wheel's file with the license's text. Its digest must be the license's `sha256`, where the
  // plan has one; otherwise the row is left out.
  std::string license_file;
  std::vector<std::string> select, optional;  // as in a manifest
  // Names of libraries that must be among the selected files. A release without one of them, or with another
  // library of the same folders that no pattern of `select` or `ignored` matches, has an unknown layout.
  std::vector<std::string> libraries, ignored;
};

// A further wheel of a row.
struct Part {
  std::string layout;  // key of the plan's layouts
  // "metadata": the release that the row's wheel requires (METADATA, and that of a metapackage it names);
  // "none": the component is one of the plan's own, and `layout` its id;
  // else a version specifier, of which the newest release counts: "~=13.0".
  std::string version;
};

struct Row {
  std::string os, arch, layout;
  std::vector<Part> parts;
  // The build as in a manifest, with the variables above, without version, os, arch, components and what is
  // read from the files (requires). Members of its `requires` are kept beside those that are read.
  Json build;
  // Where the toolkit's version comes from: "" (no CUDA), "metadata" (the metapackage cuda-toolkit that the
  // wheel requires), or the version itself.
  std::string cuda;
};

struct Track {
  std::string name;
  std::string project;   // whose releases are followed
  std::string versions;  // specifier: the range that the plugin serves
  int newest = 3;        // releases that are kept, and those in `keep`
  // "release", or "minor": only the newest release of each minor version (2.14) counts for `newest`.
  std::string newest_of = "release";
  std::vector<std::string> keep;
  // The newest release of each CUDA major in this list is kept too, because drivers in use need it.
  std::vector<std::string> cuda_majors;
  std::vector<Row> rows;
};

struct Plan {
  std::string engine;
  std::filesystem::path file, manifest, facts;  // absolute; `facts` is the memory
  int hold_back_days = 3;
  Json licenses, components, builds;  // written by hand, copied as they are
  Json critical = Json::array();      // the manifest's own, copied
  // Arguments of engine-run after the engine, for the proof of a build: a model and its inputs. {folder} is
  // the plan's folder.
  std::vector<std::vector<std::string>> models;
  std::vector<std::pair<std::string, Layout>> layouts;
  std::vector<Track> tracks;
};

// Returns the layout of that name, or nullptr. Any thread.
const Layout* find_layout(const Plan& plan, std::string_view name);

// Returns whether a version is in a range of PEP 440: "~=13.0", ">=1.18,<2", "==1.4.*", "!=2.1". Any thread.
bool in_range(std::string_view version, std::string_view range);
// Returns whether the text is such a range.
bool is_range(std::string_view text);

// Errors: EH-M18 ("file", "line", "column", "member", "problem", "nearest"): JSON that cannot be read, an
// unknown member, a value of another kind, a layout that no part names or that is not there; EH-F01 ("file")
// for a file that cannot be read. Any thread.
Result<Plan> read_plan(const std::filesystem::path& file);

}  // namespace enginehost::follow
