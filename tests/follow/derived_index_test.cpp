// Rows of this tree, derived from the package index. Facts of the tree are the memory, so that directories,
// RECORD and METADATA are read, and no library but that of one small wheel.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/follow/derive.hpp"
#include "tools/publish/requirements.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

class DerivedFromTheIndex : public testing::Test {
 protected:
  DerivedFromTheIndex() {
    plan.engine = "onnxruntime";
    plan.manifest = folder / "manifest.json";
    plan.facts = fs::path(test::source_path()) / "manifests/facts";
    for (const char* engine : {"onnxruntime", "pytorch"}) {
      const Json document = json_of(std::string("manifests/templates/") + engine + ".json");
      templates.push_back(document);
      for (const auto& [name, license] : document["licenses"].as_object()) plan.licenses.set(name, license);
      for (const auto& [id, component] : document["components"].as_object())
        plan.components.set(id, component);
    }
  }
  static Json json_of(const std::string& name) {
    const auto text = read_file(fs::path(test::source_path()) / name);
    const auto document = text ? parse_json(*text, name) : Result<Json>(Json());
    EXPECT_TRUE(document && document->is_object()) << name;
    return document ? *document : Json();
  }
  Json build_of(const std::string& id) const {
    for (const Json& document : templates)
      for (const Json& build : document["builds"].as_array())
        if (build["id"].as_string() == id) return build;
    ADD_FAILURE() << id;
    return {};
  }
  // The layout and the part that give a component of the tree.
  void add_layout(const std::string& id, const std::string& suffix = {}) {
    const Json component = plan.components[id];
    const Json artifact = component["artifacts"].as_array().front();
    Layout layout;
    layout.project = artifact["sources"].as_array().front()["package_index"]["project"].as_string();
    layout.wheel = artifact["sources"].as_array().front()["package_index"]["file"].as_string();
    layout.component = id;
    layout.license = component["license"].as_string();
    for (const Json& one : artifact["select"].as_array()) layout.select.push_back(one.as_string());
    for (const Json& one : component["optional"].as_array()) layout.optional.push_back(one.as_string());
    layout.ignored = {"*.so*", "*.dll", "*.dylib", "nvidia-nvtx*"};
    plan.layouts.emplace_back(id + suffix, std::move(layout));
  }
  // The row of a build of the tree.
  Row row_of(const Json& build, const std::string& cuda, const std::string& part_versions) {
    Row row;
    row.os = build["os"].as_string();
    row.arch = build["arch"].as_string();
    row.cuda = cuda;
    row.build = Json::object();
    for (const auto& [name, value] : build.as_object())
      if (name != "version" && name != "os" && name != "arch" && name != "components" && name != "requires")
        row.build.set(name, value);
    // Requirements that no file shows.
    Json written = Json::object();
    for (const char* name : {"libc", "metal", "vcruntime"})
      if (const Json* value = build["requires"].find(name)) written.set(name, *value);
    if (build["id"].as_string().starts_with("pytorch"))
      written.set("cuda", Json::object().set("code_of", Json::array().push("libtorch_cuda.so")));
    row.build.set("requires", std::move(written));
    for (const Json& id : build["components"].as_array()) {
      if (plan.components[id.as_string()].find("artifacts") == nullptr) {
        row.parts.push_back({id.as_string(), "none"});
        continue;
      }
      add_layout(id.as_string());
      if (row.layout.empty())
        row.layout = id.as_string();
      else
        row.parts.push_back(
            {id.as_string(), part_versions.empty()
                                 ? "==" + plan.components[id.as_string()]["version"].as_string()
                                 : part_versions});
    }
    return row;
  }
  Result<DerivedRow> derive(const Row& row, const std::string& version) {
    return derive_row({plan, index, options, folder / "scratch", {}, {}, {}}, {}, row, version);
  }
  void expect_as_in_the_tree(const DerivedRow& derived, const Json& build) {
    const Json files = json_of("manifests/files.json");
    for (const auto& [id, component] : derived.components.as_object()) {
      const Json& artifact = component["artifacts"].as_array().front();
      const Json& known = plan.components[id]["artifacts"].as_array().front();
      for (const char* name : {"sha256", "size", "archive", "select", "sources"})
        EXPECT_EQ(artifact[name].dump(), known[name].dump()) << id << " " << name;
      for (const char* name : {"version", "license", "optional"})
        EXPECT_EQ(component[name].dump(), plan.components[id][name].dump()) << id << " " << name;
      EXPECT_EQ(artifact["tree"].dump(), files[id]["tree"].dump()) << id;
      Json listed = Json::array(), ranges = Json::array();
      for (const Json& one : artifact["files"].as_array()) {
        Json entry = Json::array().push(one["path"]).push(one["size"]).push(one["sha256"]);
        if (one["executable"].as_bool()) entry.push("x");
        listed.push(std::move(entry));
      }
      for (const Json& one : artifact["ranges"].as_array())
        ranges.push(Json::array().push(one["begin"]).push(one["end"]));
      EXPECT_EQ(listed.dump(), files[id]["files"].dump()) << id;
      if (files[id].find("ranges") == nullptr)
        EXPECT_EQ(artifact.find("ranges"), nullptr) << id;
      else
        EXPECT_EQ(ranges.dump(), files[id]["ranges"].dump()) << id;
    }
    EXPECT_EQ(derived.build["components"].dump(), build["components"].dump());
    for (const auto& [name, value] : build["requires"].as_object()) {
      if (value.is_array()) {
        EXPECT_EQ(sorted(derived.build["requires"][name]), sorted(value)) << name;
      } else if (value.is_string() && name != "libc") {
        // The templates' bounds are rounded up to what a plugin needs.
        const std::string derived_bound = derived.build["requires"][name].as_string();
        ASSERT_GT(derived_bound.size(), 2u) << name;
        EXPECT_TRUE(publish::is_at_least(value.as_string(), derived_bound.substr(2)))
            << name << derived_bound;
      } else {
        EXPECT_EQ(derived.build["requires"][name].dump(), value.dump()) << name;
      }
    }
    for (const auto& [name, value] : derived.build["requires"].as_object())
      EXPECT_NE(build["requires"].find(name), nullptr) << name << " " << value.dump();
  }
  static std::vector<std::string> sorted(const Json& list) {
    std::vector<std::string> texts;
    for (const Json& one : list.as_array()) texts.push_back(one.as_string());
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  test::TemporaryFolder folder;
  std::vector<Json> templates;
  Plan plan;
  transfer::TransferOptions options;
  PackageIndex index{options, {}};
};

// The whole path without a memory: what it keeps is what the tree has, which was read from the whole archive.
TEST_F(DerivedFromTheIndex, KeepsTheFactsThatTheTreeHas) {
  const Json build = build_of("onnxruntime-1.27.0-cpu-linux-x86_64");
  const Row row = row_of(build, "", "");
  const Json artifact = plan.components[row.layout]["artifacts"].as_array().front();
  const std::string name = artifact["sha256"].as_string() + ".json";
  const Json known = json_of("manifests/facts/" + name);
  plan.facts = folder / "facts";
  const auto began = std::chrono::steady_clock::now();
  const auto derived = derive(row, "1.27.0");
  ASSERT_TRUE(derived) << derived.error().code << " " << derived.error().value(Key::problem);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  EXPECT_LT(derived->fetched, 30'000'000u);
  EXPECT_LT(seconds, 10);
  expect_as_in_the_tree(*derived, build);
  const auto text = read_file(plan.facts / name);
  ASSERT_TRUE(text);
  const auto kept = parse_json(*text, name);
  ASSERT_TRUE(kept);
  for (const char* member : {"tree", "unpacked_as", "files"})
    EXPECT_EQ((*kept)[member].dump(), known[member].dump()) << member;
  ASSERT_EQ((*kept)["libraries"].as_array().size(), known["libraries"].as_array().size());
  for (std::size_t i = 0; i < known["libraries"].as_array().size(); ++i)
    for (const auto& [member, value] : known["libraries"].as_array()[i].as_object())
      EXPECT_EQ((*kept)["libraries"].as_array()[i][member].dump(), value.dump()) << member;
  EXPECT_TRUE((*kept)["by_ranges"].as_bool());
  EXPECT_EQ((*kept)["file"].dump(), artifact["sources"].as_array().front()["package_index"]["file"].dump());
}

struct TreeRow {
  const char *build, *version, *cuda, *parts;
};

class RowOfTheTree : public DerivedFromTheIndex, public testing::WithParamInterface<TreeRow> {};

TEST_P(RowOfTheTree, IsDerivedAgain) {
  const TreeRow& given = GetParam();
  const Json build = build_of(given.build);
  const Row row = row_of(build, given.cuda, given.parts);
  const auto began = std::chrono::steady_clock::now();
  const auto derived = derive(row, given.version);
  ASSERT_TRUE(derived) << derived.error().code << " " << derived.error().value(Key::file) << " "
                       << derived.error().value(Key::problem);
  std::cout << given.build << ": " << derived->fetched << " bytes, "
            << std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() << " s\n";
  expect_as_in_the_tree(*derived, build);
}

INSTANTIATE_TEST_SUITE_P(
    Tree, RowOfTheTree,
    testing::Values(TreeRow{"onnxruntime-1.27.0-cpu-linux-x86_64", "1.27.0", "", ""},
                    TreeRow{"onnxruntime-1.27.0-cpu-macos-arm64", "1.27.0", "", ""},
                    TreeRow{"onnxruntime-1.27.0-cpu-windows-x86_64", "1.27.0", "", ""},
                    TreeRow{"onnxruntime-1.27.0-cu130-linux-x86_64", "1.27.0", "13.0", ""},
                    TreeRow{"pytorch-2.11.0-cu130-linux-x86_64", "2.11.0", "metadata", "metadata"},
                    TreeRow{"pytorch-2.11.0-cpu-linux-x86_64-stand-ins", "2.11.0", "", ""},
                    TreeRow{"pytorch-2.11.0-cpu-linux-x86_64-index", "2.11.0", "", "metadata"},
                    TreeRow{"pytorch-2.9.1-cu128-linux-x86_64", "2.9.1", "metadata", "metadata"},
                    TreeRow{"pytorch-2.9.1-cpu-windows-x86_64", "2.9.1", "", ""},
                    TreeRow{"pytorch-2.9.1-mps-macos-arm64", "2.9.1", "", ""}));

}  // namespace
}  // namespace enginehost::follow
