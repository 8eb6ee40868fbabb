// Failures that users had on Windows, and what the programs for Windows do instead. The numbers are those of
// the project's list of cases. The DLLs have only the names of those cases.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string made(const std::string& name) { return read_text(path_of(build_path("/tests/payload/") + name)); }

// A build that is tried first; the good one follows if it fails.
TestBuild build_of(const std::string& plugin, const std::vector<std::string>& beside,
                   const std::string& flavor = "first") {
  TestBuild build;
  build.id = "reference-" + flavor;
  build.flavor = flavor;
  build.priority = 90;
  build.files = {{build.plugin, plugin}};
  for (const std::string& name : beside) build.files.push_back({"lib/" + name, made(name)});
  build.search = {"lib"};
  return build;
}

class WindowsCases : public testing::Test {
 protected:
  Ended open(std::vector<std::string> more = {}, const RunOptions& options = {}) const {
    more.insert(more.begin(), {"reference", "--repository", path_text(repository.root()), "--json"});
    return workplace.info(std::move(more), options);
  }
  void publish(const std::vector<TestBuild>& builds) {
    for (const TestBuild& build : builds) repository.add(build);
    repository.add(good_build());
    repository.write();
  }
  void expect_opened_below(const fs::path& cache) const {
    const Ended run = open({"--cache", path_text(cache)});
    ASSERT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["build"].as_string(), "reference-first") << run.said();
    EXPECT_THAT(run.outcome()["library"].as_string(), StartsWith(path_text(cache)));
    const Ended again = open({"--cache", path_text(cache)});
    EXPECT_EQ(again.status, 0) << again.said();
    EXPECT_EQ(again.outcome()["download"]["bytes"].as_integer(-1), 0) << again.said();
  }
  static const Json* loaded(const Ended& run, std::string_view name) {
    for (const Json& library : run.outcome()["loaded"].as_array())
      if (to_lower(library["path"].as_string()).ends_with(to_lower(name))) return &library;
    return nullptr;
  }
  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

// "nvfuser_codegen.dll: Can't find dependent libraries", and with it no engine; deleting the file was the
// cure.
TEST_F(WindowsCases, Case02SkipsAnOptionalDllThatCannotLoad) {
  TestBuild build = build_of(reference_plugin(), {"nvfuser_codegen.dll"});
  build.optional = {"lib/nvfuser_codegen.dll"};
  publish({build});
  const Ended run = open();
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), build.id);
  ASSERT_EQ(run.document["warnings"].as_array().size(), 1u) << run.document["warnings"].dump(2);
  const std::string warning = run.document["warnings"].as_array()[0].dump();
  EXPECT_THAT(warning, HasSubstr("nvfuser_codegen.dll"));
  EXPECT_THAT(warning, HasSubstr("cudart64_110.dll"));
}

// "torch_cuda.dll: Can't find dependent libraries": a compiler's tools were needed to find out which.
TEST_F(WindowsCases, Case03NamesTheMissingDllItsUserAndTheFolders) {
  publish({build_of(made("plugin_of_torch_cuda.dll"), {"torch_cuda.dll"})});
  const Ended run = open({"--require", "first"});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.code(), "EH-W01") << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "library"), "cudnn64_9.dll");
  EXPECT_THAT(evidence(run.diagnosis(), "needed_by"), EndsWith("torch_cuda.dll"));
  EXPECT_THAT(to_lower(evidence_list(run.diagnosis(), "searched")), HasSubstr("system32"));
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("cuDNN 9"));
}

// Opened in the order of the folder, cublas came before cublasLt, and only PATH helped.
TEST_F(WindowsCases, Case04OpensADllAfterThoseItNeedsWithoutPath) {
  publish({build_of(made("plugin_of_cublas64_12.dll"), {"cublas64_12.dll", "cublasLt64_12.dll"})});
  RunOptions bare;
  bare.environment = {"PATH="};
  const Ended run = open({}, bare);
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-first");
  for (const char* name : {"\\cublas64_12.dll", "\\cublasLt64_12.dll"}) {
    const Json* library = loaded(run, name);
    ASSERT_NE(library, nullptr) << name << "\n" << run.said();
    EXPECT_EQ((*library)["origin"].as_string(), "cache");
  }
}

// Another CUDA on the machine took the place of the build's own libraries.
TEST_F(WindowsCases, Case07ADllOfTheSameNameOnPathNeverWins) {
  publish({build_of(made("plugin_of_cublas64_12.dll"), {"cublas64_12.dll", "cublasLt64_12.dll"})});
  const fs::path toolkit = workplace.folder() / "CUDA" / "v12.9" / "bin";
  for (const char* name : {"cublas64_12.dll", "cublasLt64_12.dll"}) write_text(toolkit / name, made(name));
  RunOptions with_toolkit;
  with_toolkit.environment = {"PATH=" + path_text(toolkit), "CUDA_PATH=" + path_text(toolkit.parent_path())};
  const Ended run = open({}, with_toolkit);
  ASSERT_EQ(run.status, 0) << run.said();
  const Json* library = loaded(run, "\\cublas64_12.dll");
  ASSERT_NE(library, nullptr) << run.said();
  EXPECT_EQ((*library)["origin"].as_string(), "cache");
}

// "failed to open nvrtc-builtins64_113.dll", hours after the engine was loaded.
TEST_F(WindowsCases, Case08ReportsAMissingRunTimeDllBeforeLoading) {
  TestBuild build = build_of(reference_plugin(), {});
  build.lazy = {"nvrtc-builtins64_113.dll"};
  publish({build});
  const Ended run = open({"--require", "first"});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.code(), "EH-R15") << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "library"), "nvrtc-builtins64_113.dll");
}

// "Could not locate zlibwapi.dll" at the first convolution, and the end of the process.
TEST_F(WindowsCases, Case09ReportsWhatARunTimeDllNeedsBeforeItsFirstUse) {
  TestBuild build = build_of(reference_plugin(), {"cudnn_cnn_infer64_8.dll"});
  build.lazy = {"cudnn_cnn_infer64_8.dll"};
  publish({build});
  const Ended run = open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
  const Json& diagnosis = run.candidate(build.id)["diagnosis"];
  EXPECT_EQ(diagnosis["code"].as_string(), "EH-W01") << run.said();
  EXPECT_EQ(evidence(diagnosis, "library"), "zlibwapi.dll");
  EXPECT_THAT(evidence(diagnosis, "needed_by"), EndsWith("cudnn_cnn_infer64_8.dll"));
}

// A scanner held a file, and the installation was reported as broken.
TEST_F(WindowsCases, Case13ReportsAFileInUseAndQuarantinesNothing) {
  publish({});
  const Ended first = open();
  ASSERT_EQ(first.status, 0) << first.said();
  const fs::path library = path_of(first.outcome()["library"].as_string());
  windows::Handle scanner(
      ::CreateFileW(library.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(scanner.valid());
  const Ended held = open();
  EXPECT_EQ(held.status, 6) << held.said();
  EXPECT_EQ(held.code(), "EH-W09") << held.said();
  EXPECT_THAT(held.diagnosis().dump(), HasSubstr("engine_reference.dll"));
  scanner.close();
  const Ended after = open();
  EXPECT_EQ(after.status, 0) << after.said();
  EXPECT_EQ(after.outcome()["build"].as_string(), "reference-good");
  EXPECT_EQ(after.outcome()["download"]["bytes"].as_integer(-1), 0) << "it was never broken";
}

// The user's name was outside the code page, and no DLL below it could be found.
TEST_F(WindowsCases, Case14ACacheWithSpacesAndForeignLettersWorks) {
  publish({build_of(made("plugin_of_cublas64_12.dll"), {"cublas64_12.dll", "cublasLt64_12.dll"})});
  expect_opened_below(workplace.folder() / path_of("\u5f20\u4e09 [my cache]; b"));
}

TEST_F(WindowsCases, Case14ACacheBelowAPathOfMoreThan260CharactersWorks) {
  if (::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr)
    GTEST_SKIP()
        << "skipped: Wine 8 does not report where an open folder is (GetFinalPathNameByHandle) beyond "
           "260 characters";
  publish({build_of(made("plugin_of_cublas64_12.dll"), {"cublas64_12.dll", "cublasLt64_12.dll"})});
  fs::path cache = workplace.folder();
  while (path_text(cache).size() < 400) cache /= std::string(60, 'd');
  expect_opened_below(cache);
}

// "WinError 126", "127", "193", "1114": four causes, and one recommendation, a site of DLLs to download.
TEST_F(WindowsCases, Case28DistinguishesMissingForeignAndFailingDlls) {
  std::string arm = reference_plugin();
  // Machine of the header that e_lfanew (at 60) leads to; both are from Microsoft's PE format.
  const std::size_t header = static_cast<unsigned char>(arm[60]) |
                             static_cast<std::size_t>(static_cast<unsigned char>(arm[61])) << 8;
  arm[header + 4] = '\x64', arm[header + 5] = '\xaa';
  TestBuild missing = build_of(made("plugin_of_torch_cuda.dll"), {"torch_cuda.dll"}, "missing");
  TestBuild foreign = build_of(arm, {}, "foreign");
  TestBuild failing = build_of(made("plugin_that_refuses.dll"), {}, "failing");
  publish({missing, foreign, failing});
  const Ended run = open();
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_TRUE(run.outcome()["fallback"].as_bool());
  EXPECT_EQ(run.candidate(missing.id)["diagnosis"]["code"].as_string(), "EH-W01") << run.said();
  EXPECT_EQ(run.candidate(foreign.id)["diagnosis"]["code"].as_string(), "EH-W04") << run.said();
  EXPECT_EQ(run.candidate(failing.id)["diagnosis"]["code"].as_string(), "EH-W05") << run.said();
}

}  // namespace
}  // namespace enginehost::test
