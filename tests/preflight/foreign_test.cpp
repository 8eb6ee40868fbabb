// Builds for Windows, checked on this system: cases of users whose loader reported only "Can't find dependent
// libraries".
#include "host/preflight/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* compiler = "x86_64-w64-mingw32-gcc";

class ForeignBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    if (workshop_.library_with(compiler, "try.dll", "int f(void){return 1;}", "").empty())
      GTEST_SKIP() << "the Windows cross compiler is not installed";
    std::filesystem::remove(workshop_.path("try.dll"));
  }
  static std::string symbol(const std::string& name) {
    std::string text = "f_";
    const std::string stem = std::filesystem::path(name).stem().native();
    for (const char c : stem) text += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
    return text;
  }
  // lib/NAME, which calls a function of each of `needs`.
  std::filesystem::path dll(const std::string& name, const std::vector<std::string>& needs = {},
                            const std::string& more = {}) {
    std::string source, calls = "0", flags = "-nostdlib -Wl,--entry,0 " + more;
    for (const std::string& need : needs) {
      source += "__declspec(dllimport) int " + symbol(need) + "(void);\n";
      calls += "+" + symbol(need) + "()";
      flags += " " + faults::quoted(workshop_.path("lib/" + need));
    }
    source += "__declspec(dllexport) int " + symbol(name) + "(void){return " + calls + ";}\n";
    return workshop_.library_with(compiler, "lib/" + name, source, flags);
  }
  ForeignSpec build(const std::filesystem::path& plugin) {
    ForeignSpec spec;
    spec.view = workshop_.folder();
    spec.plugin = plugin;
    spec.search = {workshop_.path("lib")};
    return spec;
  }
  faults::Workshop workshop_;
};

TEST_F(ForeignBuild, Case02AnOptionalNvfuserThatCannotLoadIsLeftOutWithOneWarning) {
  const auto missing = dll("cudart64_110.dll");
  dll("nvfuser_codegen.dll", {"cudart64_110.dll"});
  const auto torch = dll("torch.dll");
  workshop_.remove(missing);
  ForeignSpec spec = build(torch);
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::unsure);
  spec.optional = {"lib/nvfuser_codegen.dll"};
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.left_out, ElementsAre(workshop_.path("lib/nvfuser_codegen.dll")));
  ASSERT_THAT(report.warnings, SizeIs(1));
  EXPECT_EQ(report.warnings[0].code, "EH-W01");
  EXPECT_EQ(report.warnings[0].value(Key::library), "cudart64_110.dll");
  EXPECT_THAT(explain::describe(report.warnings[0]), HasSubstr("CUDA runtime 11"));
}

TEST_F(ForeignBuild, Case03TheFirstUnresolvedDLLIsNamedWithImporterAndFolders) {
  const auto missing = dll("cudnn64_9.dll");
  dll("torch_cuda.dll", {"cudnn64_9.dll"});
  const auto torch = dll("torch.dll", {"torch_cuda.dll"});
  workshop_.remove(missing);
  const Report report = check_foreign(build(torch));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-W01");
  const Diagnosis& diagnosis = report.diagnoses.front();
  EXPECT_EQ(diagnosis.value(Key::library), "cudnn64_9.dll");
  EXPECT_EQ(diagnosis.value(Key::needed_by), workshop_.path("lib/torch_cuda.dll").native());
  EXPECT_THAT(diagnosis.values(Key::searched), Contains(workshop_.path("lib").native()));
  EXPECT_THAT(explain::describe(diagnosis), HasSubstr("cuDNN 9"));
}

TEST_F(ForeignBuild, Case04CublasIsOpenedAfterItsNeeds) {
  dll("cublasLt64_12.dll");
  dll("cublas64_12.dll", {"cublasLt64_12.dll"});
  const auto torch = dll("torch_cuda.dll", {"cublas64_12.dll"});
  const Report report = check_foreign(build(torch));
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.load_order,
              ElementsAre(workshop_.path("lib/cublasLt64_12.dll"), workshop_.path("lib/cublas64_12.dll")));
}

TEST_F(ForeignBuild, Case08ALibraryOpenedAtRunTimeBelongsToTheClosure) {
  const auto torch = dll("torch.dll");
  ForeignSpec spec = build(torch);
  spec.lazy = {"nvrtc-builtins64_113.dll"};
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_EQ(report.diagnoses.front().value(Key::library), "nvrtc-builtins64_113.dll");
}

// cuDNN ended the process ("Cannot load symbol cudnnGetVersion"), because Windows did not find its parts by
// their plain names.
TEST_F(ForeignBuild, LibrariesThatAreOpenedByNameAreOpenedBeforeThePlugin) {
  dll("cudnn64_9.dll");
  dll("cudnn_graph64_9.dll");
  dll("cudnn_ops64_9.dll", {"cudnn_graph64_9.dll"});
  dll("cudnn_adv64_9.dll");
  ForeignSpec spec = build(dll("engine.dll", {"cudnn64_9.dll"}));
  spec.lazy = {"cudnn_ops64_9.dll"};
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.load_order,
              ElementsAre(workshop_.path("lib/cudnn64_9.dll"), workshop_.path("lib/cudnn_graph64_9.dll"),
                          workshop_.path("lib/cudnn_ops64_9.dll")));
}

TEST_F(ForeignBuild, ADLLFromElsewhereIsADoubtUntilThePlatformIsKnown) {
  const auto runtime = dll("MSVCP140.dll");
  const auto engine = dll("engine.dll", {"MSVCP140.dll"}, "-lkernel32");
  workshop_.remove(runtime);
  ForeignSpec spec = build(engine);
  Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::unsure);
  ASSERT_THAT(report.diagnoses, SizeIs(1));
  EXPECT_EQ(report.diagnoses[0].value(Key::library), "MSVCP140.dll");
  EXPECT_THAT(explain::describe(report.diagnoses[0]), HasSubstr("Visual C++ Redistributable"));
  platform::Platform platform;
  spec.platform = &platform;
  platform.vcruntime = platform::Fact<std::string>::absent("registry");
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::fails);
  platform.vcruntime = platform::Fact<std::string>::known("14.40.33810", "registry");
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
}

TEST_F(ForeignBuild, ADLLForAnotherProcessorThanThePlatformsFails) {
  const auto engine = dll("engine.dll");
  ForeignSpec spec = build(engine);
  platform::Platform platform;
  platform.arch = platform::Fact<std::string>::known("aarch64", "file");
  spec.platform = &platform;
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  EXPECT_EQ(first_code(report), "EH-W04");
}

TEST_F(ForeignBuild, AFunctionThatTheBuildsDLLLacksIsFoundWithSymbols) {
  dll("dep.dll");
  const auto engine = dll("engine.dll", {"dep.dll"});
  workshop_.library_with(compiler, "lib/dep.dll", "__declspec(dllexport) int other(void){return 1;}",
                         "-nostdlib -Wl,--entry,0");
  ForeignSpec spec = build(engine);
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
  spec.symbols = true;
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  EXPECT_EQ(first_code(report), "EH-W03");
  EXPECT_EQ(report.diagnoses.front().value(Key::symbol), "f_dep");
}

TEST_F(ForeignBuild, InspectingOnLinuxReportsTheWrongSystemFirst) {
  const auto missing = dll("cublas64_13.dll");
  const auto ggml = dll("ggml-cuda.dll", {"cublas64_13.dll"}, "-lkernel32");
  workshop_.remove(missing);
  const auto here = inspect(ggml, false, linker::describe_this_machine());
  ASSERT_TRUE(here);
  EXPECT_EQ(here->verdict, Verdict::fails);
  EXPECT_EQ(first_code(*here), "EH-F09");
  ASSERT_NE(find(here->diagnoses, "EH-W01"), nullptr);
  ASSERT_THAT(here->missing, SizeIs(1));
  EXPECT_EQ(here->missing[0].name, "cublas64_13.dll");
  const Json json = to_json(*here, &explain::to_json);
  EXPECT_EQ(json["missing"].as_array()[0]["needed_by"].as_string(), ggml.native());

  platform::Platform windows;
  windows.os = platform::Fact<std::string>::known("windows", "file");
  windows.arch = platform::Fact<std::string>::known("x86_64", "file");
  const auto there = inspect(ggml, false, linker::describe_this_machine(), &windows);
  ASSERT_TRUE(there);
  EXPECT_EQ(first_code(*there), "EH-W01");
  EXPECT_EQ(find(there->diagnoses, "EH-F09"), nullptr);
  dll("cublas64_13.dll");
  EXPECT_EQ(inspect(ggml, false, linker::describe_this_machine(), &windows)->verdict, Verdict::loads);
}

}  // namespace
}  // namespace enginehost::preflight
