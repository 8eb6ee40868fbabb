// engine-cache sdk over repositories made here. engine_sdk_test.py links programs with the published engines.
#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <vector>

#include "base/sha256.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

// A repository with two versions of an engine whose library is the reference plugin, and a PyTorch whose
// archives name no headers.
class EngineSdk : public testing::Test {
 protected:
  EngineSdk() {
    TestRepository runtime(workplace.folder() / "runtime", "onnxruntime");
    for (const std::string version : {"1.2.0", "1.3.0"}) {
      TestBuild build = good_build("onnxruntime-" + version);
      build.version = version;
      build.files.push_back({"onnxruntime/capi/libonnxruntime.so." + version, reference_plugin() + version});
      build.files.push_back({"onnxruntime/LICENSE", "the text of " + version});
      runtime.add(build);
    }
    TestBuild other = good_build("onnxruntime-9.0.0-cu130");
    other.version = "9.0.0";
    other.flavor = "cu130";
    runtime.add(other);
    runtime.write();
    TestRepository torch(workplace.folder() / "torch", "pytorch");
    TestBuild build = good_build("pytorch-2.0.0");
    build.version = "2.0.0";
    build.files.push_back({"torch/lib/libtorch_cpu.so", reference_plugin()});
    torch.add(build);
    torch.write();
    TestRepository reference(workplace.folder() / "reference");
    reference.add(good_build());
    reference.write();
    workplace.configure(Json::object()
                            .set("repositories_default", false)
                            .set("repositories", Json::array()
                                                     .push(runtime.root().native())
                                                     .push(torch.root().native())
                                                     .push(reference.root().native())));
  }

  Ended sdk(const std::string& engine, const fs::path& folder, const RunOptions& options = {}) const {
    return workplace.run("engine-cache", {"sdk", engine, folder.native(), "--json"}, options);
  }
  fs::path folder() const { return workplace.folder() / "work" / "sdk"; }
  // Every file and link below, with its content, or target, and time.
  static std::vector<std::string> content_of(const fs::path& folder) {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      std::string line = entry.path().lexically_relative(folder).native();
      if (entry.is_symlink())
        line += " -> " + fs::read_symlink(entry.path()).native();
      else if (entry.is_regular_file())
        line += " " + sha256_hex(read_text(entry.path())) + " " +
                std::to_string(entry.last_write_time().time_since_epoch().count());
      found.push_back(line);
    }
    std::ranges::sort(found);
    return found;
  }
  static void expect_as_listed(const fs::path& folder) {
    const auto list = parse_json(read_text(folder / "enginehost-sdk.json"), "list");
    ASSERT_TRUE(list);
    EXPECT_GT((*list)["files"].as_array().size(), 4u);
    for (const Json& file : (*list)["files"].as_array()) {
      if (file["link"].is_null())
        EXPECT_EQ(sha256_hex(read_text(folder / file["path"].as_string())), file["sha256"].as_string())
            << file["path"].as_string();
    }
  }

  const Workplace workplace;
};

TEST_F(EngineSdk, HasLibrariesLicensesHeadersAndThePackage) {
  const Ended run = sdk("onnxruntime", folder());
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["version"].as_string(), "1.3.0");
  EXPECT_EQ(run.document["package"].as_string(), "onnxruntime");
  EXPECT_EQ(read_text(folder() / "lib/libonnxruntime.so.1.3.0"), reference_plugin() + "1.3.0");
  EXPECT_EQ(read_text(folder() / "licenses/onnxruntime-1.3.0-2/onnxruntime/LICENSE"), "the text of 1.3.0");
  EXPECT_THAT(read_text(folder() / "lib/cmake/onnxruntime/onnxruntimeConfig.cmake"),
              HasSubstr("lib/libonnxruntime.so.1.3.0"));
  EXPECT_THAT(read_text(folder() / "include/onnxruntime_c_api_subset.h"), HasSubstr("OrtGetApiBase"));
  EXPECT_FALSE(fs::exists(folder() / "lib" / plugin_name));  // the plugin is no part of the engine
  expect_as_listed(folder());
  // Anybody may read it, as a package's files.
  EXPECT_EQ(fs::status(folder() / "include").permissions() & fs::perms::others_read, fs::perms::others_read);
  EXPECT_THAT(workplace.run("engine-cache", {"list", "--json"}).document["builds"].as_array(), IsEmpty());
}

TEST_F(EngineSdk, StaysAsItIsWhenItIsWrittenAgain) {
  ASSERT_EQ(sdk("onnxruntime@1.2", folder()).status, 0);
  const std::vector<std::string> before = content_of(folder());
  fs::remove_all(workplace.cache());
  for (const fs::path& name : {folder(), fs::path(folder() / "."), folder() / "../sdk/"}) {
    const Ended again = sdk("onnxruntime@1.2", name);
    EXPECT_EQ(again.status, 0) << again.said();
    EXPECT_TRUE(again.document["was_there"].as_bool());
    EXPECT_EQ(again.document["downloaded"].as_integer(), 0);
  }
  EXPECT_EQ(content_of(folder()), before);
}

TEST_F(EngineSdk, ReportsR24ForAFolderThatHoldsSomethingElse) {
  const auto expect_refused = [&](const std::string& what, const std::string& reason) {
    const std::vector<std::string> before = content_of(workplace.folder() / "work");
    const Ended run = sdk("onnxruntime", folder());
    EXPECT_EQ(run.code(), "EH-R24") << what << run.said();
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr(reason)) << what;
    EXPECT_EQ(content_of(workplace.folder() / "work"), before) << what;
  };
  fs::create_directories(folder());
  write_text(folder() / "notes.txt", "mine");
  expect_refused("a file of somebody", "already holds notes.txt");
  fs::remove_all(folder());
  write_text(folder(), "mine");
  expect_refused("a file in its place", "is a file");
  fs::remove_all(folder());
  ASSERT_EQ(sdk("onnxruntime@1.2", folder()).status, 0);
  expect_refused("another version", "the SDK of onnxruntime 1.2.0");
  fs::remove_all(folder());
  ASSERT_EQ(sdk("onnxruntime", folder()).status, 0);
  fs::permissions(folder() / "include/onnxruntime_c_api_subset.h", fs::perms::owner_all);
  write_text(folder() / "include/onnxruntime_c_api_subset.h", "changed");
  expect_refused("a changed file", "include/onnxruntime_c_api_subset.h is not as it was written");
  write_text(folder() / "enginehost-sdk.json", "{");
  expect_refused("a damaged list", "enginehost-sdk.json is not as it was written");
  fs::remove_all(folder());
  fs::create_directories(folder());  // an empty folder holds nothing
  EXPECT_EQ(sdk("onnxruntime", folder()).status, 0);
}

TEST_F(EngineSdk, ReportsR22ForAnEngineThatHasNone) {
  const Ended run = sdk("reference", folder());
  EXPECT_EQ(run.code(), "EH-R22") << run.said();
  EXPECT_EQ(run.status, 3);
  const Ended unknown = sdk("onnxrumtime", folder());
  EXPECT_EQ(unknown.code(), "EH-S02") << unknown.said();
  EXPECT_THAT(unknown.diagnosis()["cause"].as_string(), HasSubstr("did you mean onnxruntime?"));
  EXPECT_FALSE(fs::exists(folder().parent_path()));
}

TEST_F(EngineSdk, ReportsR23ForAVersionThatHasNone) {
  const Ended run = sdk("onnxruntime@1.9", folder());
  EXPECT_EQ(run.code(), "EH-R23") << run.said();
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("there are those of 1.3.0, 1.2.0"));
  // A build for GPUs is no part for processors.
  EXPECT_EQ(sdk("onnxruntime@9", folder()).code(), "EH-R23");
  const Ended torch = sdk("pytorch", folder());
  EXPECT_EQ(torch.code(), "EH-R23") << torch.said();
  EXPECT_THAT(torch.diagnosis()["cause"].as_string(), HasSubstr("names no headers"));
}

TEST_F(EngineSdk, KeepsToTheVersionsThatThePolicyAllows) {
  if (!can_mount()) GTEST_SKIP() << "only root may show a system file";
  RunOptions options;
  options.launcher = with_system_file(
      workplace, *parse_json(R"({"policy": {"versions": {"onnxruntime": "<1.3"}}})", "policy"));
  const Ended allowed = sdk("onnxruntime", folder(), options);
  EXPECT_EQ(allowed.document["version"].as_string(), "1.2.0") << allowed.said();
  const Ended refused = sdk("onnxruntime@1.3", folder().parent_path() / "other", options);
  EXPECT_EQ(refused.code(), "EH-R23") << refused.said();
  EXPECT_THAT(refused.diagnosis()["cause"].as_string(), HasSubstr("the policy allows version <1.3"));
}

TEST_F(EngineSdk, IsAbsentOrWholeWhenTheCommandIsKilled) {
  int killed = 0, whole = 0;
  for (int milliseconds = 4; milliseconds < 500 && whole < 2; milliseconds += milliseconds / 3 + 1) {
    SCOPED_TRACE(milliseconds);
    RunOptions options;
    options.launcher = {"timeout", "-s", "KILL", std::to_string(milliseconds) + "e-3"};
    options.may_crash = true;
    const Ended run = sdk("onnxruntime", folder(), options);
    (run.status == 0 ? whole : killed) += 1;
    if (fs::exists(folder())) expect_as_listed(folder());
    const Ended again = sdk("onnxruntime", folder());
    ASSERT_EQ(again.status, 0) << again.said();
    expect_as_listed(folder());
    EXPECT_EQ(std::distance(fs::directory_iterator(folder().parent_path()), fs::directory_iterator()), 1);
    fs::remove_all(folder());
    fs::remove_all(workplace.cache());
  }
  EXPECT_GT(killed, 0);
  EXPECT_GT(whole, 0);
}

TEST_F(EngineSdk, IsWrittenOnceByTwoCommands) {
  std::vector<std::future<Ended>> runs;
  for (int i = 0; i < 3; ++i)
    runs.push_back(std::async(std::launch::async, [&] { return sdk("onnxruntime", folder()); }));
  int written = 0;
  for (std::future<Ended>& one : runs) {
    const Ended run = one.get();
    EXPECT_EQ(run.status, 0) << run.said();
    written += run.document["was_there"].as_bool() ? 0 : 1;
  }
  EXPECT_EQ(written, 1);
  expect_as_listed(folder());
}

TEST_F(EngineSdk, LeavesNothingOnAFullDisk) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  fs::create_directories(folder().parent_path());
  for (const char* const size : {"size=64k", "size=8m,nr_inodes=6"}) {
    RunOptions options;
    options.launcher = with_tmpfs(folder().parent_path(), size);
    const Ended run = sdk("onnxruntime", folder(), options);
    EXPECT_EQ(run.code(), "EH-F15") << run.said();
    EXPECT_THAT(run.diagnosis().dump(), HasSubstr(folder().parent_path().native()));
  }
  EXPECT_EQ(sdk("onnxruntime", folder()).status, 0);
}

}  // namespace
}  // namespace enginehost::test
