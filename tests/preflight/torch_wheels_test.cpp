// PyTorch's published wheels for Windows and macOS (0.4 GB, by pip), checked file by file on this system:
// what a bare machine lacks for them, with the functions and symbols that their own libraries offer each
// other.
#include <gmock/gmock.h>

#include <set>

#include "base/child_process.hpp"
#include "host/preflight/foreign.hpp"
#include "tests/preflight/helpers.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class TorchWheels : public ::testing::TestWithParam<const char*> {  // the release
 protected:
  // The members are those that tests/binary compares of the same wheel, so that it is unpacked once for both.
  void fetch(const char* platform) {
    ChildRequest request;
    request.argv = {"python3",
                    test::source_path("/tests/engines/fetch_wheel.py"),
                    "--platform",
                    platform,
                    test::build_path("/downloads"),
                    "torch",
                    GetParam(),
                    "*.dll",
                    "*.pyd",
                    "*.so",
                    "*.dylib"};
    request.deadline = std::chrono::minutes(5);
    const auto ended = run_child(request);
    if (!ended || !ended->succeeded()) GTEST_SKIP() << "skipped: pip cannot get torch " << GetParam();
    folder_ = ended->output.substr(0, ended->output.find('\n'));
  }
  // Checks everything that `library` needs, including symbols.
  Report judge(const std::string& library) const {
    ForeignSpec spec;
    spec.view = folder_;
    spec.search = {spec.view / "torch/lib"};
    spec.plugin = spec.search.front() / library;
    spec.optional = {"torch/lib/torch_python.dll", "torch/lib/libtorch_python.dylib"};
    spec.platform = &machine_;
    spec.symbols = true;
    return check_foreign(spec);
  }
  static std::set<std::string> libraries_of(const Report& report) {
    std::set<std::string> all;
    for (const Diagnosis& diagnosis : report.diagnoses)
      for (const std::string& library : diagnosis.values(Key::library)) all.insert(library);
    return all;
  }

  platform::Platform machine_;
  std::filesystem::path folder_;
};

TEST_P(TorchWheels, OnABareWindowsOnlyMicrosoftsRuntimeIsMissing) {
  fetch("win_amd64");
  if (IsSkipped()) return;
  machine_.os = platform::Fact<std::string>::known("windows", "test");
  machine_.arch = platform::Fact<std::string>::known("x86_64", "test");
  machine_.vcruntime = platform::Fact<std::string>::absent("System32");
  const Report bare = judge("torch_cpu.dll");
  EXPECT_EQ(bare.verdict, Verdict::fails);
  EXPECT_THAT(bare.missing, IsEmpty());
  EXPECT_THAT(libraries_of(bare),
              UnorderedElementsAre("MSVCP140.dll", "VCRUNTIME140.dll", "VCRUNTIME140_1.dll"));

  machine_.vcruntime = platform::Fact<std::string>::known("14.40.33810", "test");
  const Report with_runtime = judge("torch_cpu.dll");
  EXPECT_EQ(with_runtime.verdict, Verdict::loads);
  ASSERT_THAT(with_runtime.left_out, SizeIs(1));
  EXPECT_EQ(with_runtime.left_out.front().filename(), "torch_python.dll");
  ASSERT_THAT(with_runtime.warnings, SizeIs(1));
  EXPECT_EQ(with_runtime.warnings.front().value(Key::library), "python311.dll");
}

TEST_P(TorchWheels, ABareMacHasAllThatTheBuildNeeds) {
  fetch("macosx_11_0_arm64");
  if (IsSkipped()) return;
  machine_.os = platform::Fact<std::string>::known("macos", "test");
  machine_.arch = platform::Fact<std::string>::known("aarch64", "test");
  const Report report = judge("libtorch_cpu.dylib");
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.missing, IsEmpty());
  EXPECT_THAT(report.diagnoses, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Published, TorchWheels, ::testing::Values("2.0.1", "2.9.1"),
                         [](const auto& release) {
                           std::string name = release.param;
                           for (char& letter : name)
                             if (letter == '.') letter = '_';
                           return name;
                         });

}  // namespace
}  // namespace enginehost::preflight
