// A plan, its manifest and its memory in a folder, over an index of generated wheels.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/explain/explain.hpp"
#include "tests/follow/toy_index.hpp"
#include "tools/follow/follow.hpp"

namespace enginehost::follow {

class FollowTest : public testing::Test {
 protected:
  FollowTest() {
    write_plan();
    index.publish("toy", "1.0");
    index.publish("toy", "1.1");
  }

  // `track`: members of the track beside name, project and rows. `head`: members of the plan.
  void write_plan(const std::string& track = R"("versions": ">=1.0,<3", "newest": 2)",
                  const std::string& head = R"("hold_back_days": 3)") {
    test::write_text(plan_file,
                     R"({"format": 1, "engine": "toy", "manifest": "engines/toy.json", "facts": "facts",
 )" + head + R"(,
 "licenses": {"toy": {"id": "MIT", "accept": "implicit", "redistribute": "yes"}},
 "components": {"toy-plugin": {"version": "1", "license": "toy", "artifacts": [{"sha256": ")" +
                         std::string(64, '1') + R"(", "size": 10, "archive": "none",
  "path": "libengine_toy.so", "sources": [{"url": "https://toy.example/libengine_toy.so"}]}]}},
 "builds": [],
 "layouts": {"linux": {"project": "toy", "wheel": "toy-{version}-py3-none-manylinux_*_x86_64.whl",
   "component": "toy-{version}-linux-x86_64", "license": "toy", "select": ["toy/*"], "libraries": ["libtoy.so"]}},
 "tracks": [{"name": "cpu", "project": "toy", )" +
                         track + R"(, "rows": [{"os": "linux", "arch": "x86_64", "layout": "linux",
   "parts": [{"layout": "toy-plugin", "version": "none"}],
   "build": {"id": "toy-{version}-cpu-linux-x86_64", "flavor": "cpu", "search": ["toy"], "capabilities": ["device.cpu"],
    "plugin": {"component": "toy-plugin", "path": "libengine_toy.so"}}}]}]}
)");
  }
  Result<Report> run(bool check = false, const std::vector<std::string>& only = {}) {
    FollowRequest request;
    request.plan = plan_file;
    request.check = check;
    request.only = only;
    request.now = now;
    request.options.package_index = index.url();
    request.options.retries = 0;
    return follow(request);
  }
  // Runs without an error; the report may have failures.
  Report report(bool check = false, const std::vector<std::string>& only = {}) {
    auto result = run(check, only);
    EXPECT_TRUE(result) << explain::one_line(result.error());
    return result ? std::move(*result) : Report();
  }
  std::string manifest() const { return exists(manifest_file) ? test::read_text(manifest_file) : ""; }
  std::vector<std::string> builds() const {
    std::vector<std::string> ids;
    const auto document = parse_json(manifest(), "manifest");
    if (!document) return ids;
    for (const Json& build : (*document)["builds"].as_array()) ids.push_back(build["version"].as_string());
    return ids;
  }
  static std::vector<std::string> states(const Report& report) {
    std::vector<std::string> states;
    for (const ReportedRow& row : report.rows)
      states.push_back(row.version + " " + std::string(name_of(row.state)));
    return states;
  }
  static std::vector<std::string> codes(const Report& report) {
    std::vector<std::string> codes;
    for (const Diagnosis& problem : report.problems) codes.emplace_back(problem.code_text());
    return codes;
  }

  test::TemporaryFolder folder;
  const std::filesystem::path plan_file = folder / "plan.json";
  const std::filesystem::path manifest_file = folder / "engines/toy.json";
  const std::filesystem::path memory_file = folder / "facts/follow/toy.json";
  ToyIndex index;
  std::int64_t now = toy_now;
};

}  // namespace enginehost::follow
