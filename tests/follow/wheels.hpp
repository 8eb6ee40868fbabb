// A package index of generated wheels behind a real nginx, for tests of derivation.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "host/manifest/trust/minisign.hpp"
#include "tests/support/archives.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/this_architecture.hpp"
#include "tools/follow/derive.hpp"

namespace enginehost::follow {

namespace fs = std::filesystem;

struct WheelText {
  std::string project, version;
  std::vector<test::ArchiveEntry> entries;
  std::vector<std::string> requirements;
  std::string metadata = {};                     // in place of the usual METADATA
  std::map<std::string, std::string> lies = {};  // path -> the content that RECORD states
};

inline std::string folder_name(std::string project) {
  for (char& c : project)
    if (c == '-') c = '_';
  return project;
}

inline std::string line_of_record(const std::string& path, const std::string& content) {
  std::string raw, digits = sha256_hex(content);
  for (std::size_t i = 0; i < digits.size(); i += 2)
    raw += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  std::string digest = manifest::base64_text(raw);
  for (char& c : digest) c = c == '+' ? '-' : c == '/' ? '_' : c;
  while (digest.ends_with('=')) digest.pop_back();
  return path + ",sha256=" + digest + "," + std::to_string(content.size()) + "\n";
}

inline std::string wheel_of(const WheelText& text) {
  const std::string info = folder_name(text.project) + "-" + text.version + ".dist-info/";
  std::vector<test::ArchiveEntry> entries = text.entries;
  std::string metadata = "Metadata-Version: 2.1\nName: " + text.project + "\nVersion: " + text.version + "\n";
  for (const std::string& one : text.requirements) metadata += "Requires-Dist: " + one + "\n";
  entries.push_back({info + "METADATA", text.metadata.empty() ? metadata : text.metadata});
  entries.push_back({info + "licenses/LICENSE", "terms of " + text.project});
  std::string record;
  for (const test::ArchiveEntry& entry : entries) {
    const auto lie = text.lies.find(entry.path);
    record += line_of_record(entry.path, lie != text.lies.end() ? lie->second : entry.bytes);
  }
  entries.push_back({info + "RECORD", record + info + "RECORD,,\n"});
  return test::make_archive("zip", entries);
}

// The library that the build made for the tests of publishers.
inline std::string toy_library() { return test::read_text(ENGINEHOST_TOY); }

class DeriveTest : public testing::Test {
 protected:
  DeriveTest() {
    using namespace std::chrono_literals;
    options.package_index = server.url("simple");
    options.first_backoff = 5ms;
    options.stall_limit = 2s;
    options.retries = 1;
    plan.engine = "toy";
    plan.manifest = folder / "toy.json";
    plan.facts = folder / "facts";
    plan.licenses = Json::object().set("toy", Json::object().set("id", "MIT"));
    plan.components = Json::object();
    plan.layouts = {{"main", layout("toy")}};
    row = {"linux", test::architecture, "main", {}, {}, {}};
    row.build =
        Json::object()
            .set("id", "toy-{version}-cpu")
            .set("flavor", "cpu")
            .set("plugin", Json::object().set("component", "toy-plugin").set("path", "libengine_toy.so"))
            .set("search", Json::array().push("toy"));
  }

  static std::string file_of(const std::string& project, const std::string& version) {
    return folder_name(project) + "-" + version + "-py3-none-any.whl";
  }
  Layout layout(const std::string& project) const {
    Layout made;
    made.project = project;
    made.wheel = folder_name(project) + "-{version}-*.whl";
    made.component = project + "-{version}-linux";
    made.license = "toy";
    made.license_file = "*.dist-info/licenses/LICENSE";
    made.select = {folder_name(project) + "/*.so*", "*.dist-info/licenses/*"};
    return made;
  }
  // `listed`: what the page says, where it lies.
  void publish(const std::string& project, const std::string& version, const std::string& wheel,
               const Json& listed = Json::object()) {
    const std::string file = file_of(project, version);
    test::write_text(server.root() / ("files/" + file), wheel);
    Json entry = Json::object()
                     .set("filename", file)
                     .set("url", "../../files/" + file)
                     .set("size", wheel.size())
                     .set("hashes", Json::object().set("sha256", sha256_hex(wheel)));
    for (const auto& [name, value] : listed.as_object()) entry.set(name, value);
    pages[project][file] = std::move(entry);
    Json files = Json::array();
    for (const auto& [name, one] : pages[project]) files.push(one);
    test::write_text(server.root() / ("simple/" + project + "/index.html"),
                     Json::object()
                         .set("meta", Json::object().set("api-version", "1.1"))
                         .set("name", project)
                         .set("files", std::move(files))
                         .dump());
  }
  static WheelText toy(const std::string& version = "1.0") {
    return {
        "toy", version, {{"toy/libtoy.so", toy_library(), 0755}, {"toy/words", test::noise(700'000)}}, {}};
  }
  Result<DerivedRow> derive(const std::string& version = "1.0") {
    PackageIndex index(options, {});
    return derive_row({plan, index, options, folder / "scratch", progress, cancel, {}}, {}, row, version);
  }
  // The problem of a release that must be refused; nothing may be remembered of it.
  std::string problem(const std::string& version = "1.0") {
    const auto derived = derive(version);
    EXPECT_FALSE(fs::exists(plan.facts) && !fs::is_empty(plan.facts));
    if (derived) return "none";
    if (std::string(derived.error().code_text()) != "EH-M19") return std::string(derived.error().code_text());
    EXPECT_NE(derived.error().value(Key::remedy), "");
    EXPECT_EQ(derived.error().value(Key::version), version);
    return std::string(derived.error().value(Key::problem));
  }

  test::TemporaryFolder folder;
  test::NginxServer server;
  std::map<std::string, std::map<std::string, Json>> pages;
  transfer::TransferOptions options;
  transfer::ProgressCallback progress;
  std::optional<CancelToken> cancel;
  Plan plan;
  Row row;
};

}  // namespace enginehost::follow
