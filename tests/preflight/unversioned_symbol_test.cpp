// A symbol without a version is missing: which library should offer it, and is that certain?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/preflight/real_opener.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class UnversionedSymbol : public ::testing::Test {
 protected:
  // A library that offers `count` functions of the family, and what `more` defines.
  std::filesystem::path part(const std::string& file, const std::string& soname, const std::string& family,
                             int count, const std::string& more = {}) {
    std::string source = more;
    for (int i = 0; i < count; ++i) source += "int " + family + std::to_string(i) + "(void){return 0;}";
    return workshop_.library(file, source, "-Wl,-soname," + soname);
  }
  std::filesystem::path user(const std::string& source, const std::filesystem::path& linked,
                             const std::string& path = "$ORIGIN/new") {
    return workshop_.library(
        "libuser.so", source,
        "-Wl,-soname,libuser.so -Wl,--no-as-needed " + faults::quoted(linked) + " -Wl,-rpath,'" + path + "'");
  }
  Report judged(const std::filesystem::path& file, const std::string& library_path = {},
                bool symbols = false) {
    linker::Machine machine = linker::describe_this_machine();
    machine.library_path.clear();
    if (!library_path.empty()) machine.library_path = {library_path};
    machine.library_path_text = library_path;
    auto report = inspect(file, symbols, machine);
    EXPECT_TRUE(report);
    return report ? std::move(*report) : Report();
  }

  faults::Workshop workshop_;
  RealOpener real_{workshop_};
};

constexpr const char* calls_added = "int partAdded(void);int use(void){return partAdded();}";

TEST_F(UnversionedSymbol, L12AnotherFileOfThatNameOffersIt) {
  const auto older = part("old/libpart.so.2", "libpart.so.2", "part", 2),
             newer = part("new/libpart.so.2", "libpart.so.2", "part", 2, "int partAdded(void){return 1;}");
  const auto file = user(calls_added, newer);
  EXPECT_EQ(judged(file).verdict, Verdict::loads);
  EXPECT_EQ(real_.error(file, ""), "");
  const std::string folder = older.parent_path().native();
  const Report report = judged(file, folder);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L12");
  EXPECT_EQ(report.diagnoses.front().value(Key::expected_in), older.native());
  EXPECT_TRUE(std::filesystem::equivalent(report.diagnoses.front().value(Key::wanted), newer));
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              HasSubstr("remove the folder of " + older.native() + " from LD_LIBRARY_PATH"));
  EXPECT_THAT(real_.error(file, folder), HasSubstr("undefined symbol: partAdded"));
}

// nvidia-nccl-cu12 and nvidia-nccl-cu13 write the same file.
TEST_F(UnversionedSymbol, L12NamesBothPackagesThatWroteTheFile) {
  const auto library =
      part("env/nvidia/part/lib/libpart.so.2", "libpart.so.2", "partDo", 9, "int partAdded(void){return 1;}");
  const auto file = user(calls_added, library, "$ORIGIN/env/nvidia/part/lib");
  part("env/nvidia/part/lib/libpart.so.2", "libpart.so.2", "partDo", 9);
  const auto packages = [&] { return judged(file).diagnoses.front().values(Key::installed_by); };
  workshop_.file("env/nvidia_part_cu12-2.29.3.dist-info/METADATA", "x");
  workshop_.file("env/nvidia_parts_cu12-2.29.3.dist-info/METADATA", "x");
  ASSERT_EQ(first_code(judged(file)), "EH-L12");
  EXPECT_TRUE(packages().empty());
  workshop_.file("env/nvidia_part_cu13-2.29.7.dist-info/METADATA", "x");
  EXPECT_THAT(packages(), ElementsAre("nvidia-part-cu12", "nvidia-part-cu13"));
  EXPECT_THAT(explain::describe(judged(file).diagnoses.front()), HasSubstr("uninstall nvidia-part-cu12"));
}

TEST_F(UnversionedSymbol, L12IsUnsureWhenOnlyTheNamesBeginTheSame) {
  struct Case {
    const char *family, *symbol;
  };
  for (const Case& one :
       {Case{"partDo", "partAdded"}, Case{"pa_", "pa_added"}, Case{"__partCreate", "__partAdded"},
        Case{"_ZN4part4made", "_ZN4part5addedEv"}, Case{"_ZNK4part4made", "_ZNK4part5addedEv"}}) {
    const std::string soname = "libpart" + std::string(one.symbol) + ".so.2";
    const auto library = part("new/" + soname, soname, one.family, 9);
    const std::string name = one.symbol;
    const auto file = user("int " + name + "(void);int use(void){return " + name + "();}", library);
    const Report report = judged(file);
    EXPECT_EQ(report.verdict, Verdict::unsure) << name;
    ASSERT_EQ(first_code(report), "EH-L12") << name;
    EXPECT_TRUE(std::filesystem::equivalent(report.diagnoses.front().value(Key::expected_in), library));
    EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("install the release of " + soname));
    EXPECT_THAT(real_.error(file, ""), HasSubstr("undefined symbol: " + name));
    EXPECT_EQ(judged(file, "", true).verdict, Verdict::fails) << name;
  }
}

// Functions of the program that opens the file, and of libraries that it does not need by name.
TEST_F(UnversionedSymbol, OtherNamesStayANote) {
  const auto library = part("new/libpart.so.2", "libpart.so.2", "partDo", 7);
  for (const char* name : {"partAdded", "hostAdded", "log", "PyObject_Call"}) {
    const std::string call = std::string("int ") + name + "(void);int use(void){return " + name + "();}";
    const Report report = judged(user(call, library));
    EXPECT_EQ(report.verdict, Verdict::loads) << name;
    ASSERT_EQ(report.notes.size(), 1u) << name;
    EXPECT_THAT(report.notes.front(), HasSubstr(name));
  }
}

TEST_F(UnversionedSymbol, TheLibraryWithTheNearestNameIsNamed) {
  const auto core = part("new/libcore.so", "libcore.so", "_ZN4core1a", 20),
             gpu = part("new/libcore_gpu.so", "libcore_gpu.so", "_ZN4core3gpu1a", 9);
  const auto file = workshop_.library(
      "libuser.so", "int _ZN4core3gpu9SetDeviceEi(void);int use(void){return _ZN4core3gpu9SetDeviceEi();}",
      "-Wl,--no-as-needed " + faults::quoted(core) + " " + faults::quoted(gpu) + " -Wl,-rpath,'$ORIGIN/new'");
  EXPECT_EQ(judged(file).diagnoses.front().value(Key::library), "libcore_gpu.so");
}

TEST_F(UnversionedSymbol, L14AVariableIsTreatedLikeAFunction) {
  const auto older = part("old/libpart.so.2", "libpart.so.2", "part", 2),
             newer = part("new/libpart.so.2", "libpart.so.2", "part", 2, "int partCount=1;");
  const auto file = user("extern int partCount;int use(void){return partCount;}", newer);
  const std::string folder = older.parent_path().native();
  const Report report = judged(file, folder);
  ASSERT_EQ(first_code(report), "EH-L14");
  EXPECT_EQ(report.diagnoses.front().value(Key::expected_in), older.native());
  EXPECT_THAT(real_.error(file, folder, true), HasSubstr("undefined symbol: partCount"));
}

// The real pair: libtorch_cpu.so of conda, and libmkl_core.so.2 of MKL 2024.1.
TEST_F(UnversionedSymbol, L12MklDroppedTheProfilersFunctions) {
  const auto library = part("new/libmkl_core.so.2", "libmkl_core.so.2", "mkl_serv_", 3);
  const auto file = user("int iJIT_NotifyEvent(void);int use(void){return iJIT_NotifyEvent();}", library);
  const Report report = judged(file);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L12");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("install MKL 2024.0 or older"));
  EXPECT_THAT(real_.error(file, ""), HasSubstr("iJIT_NotifyEvent"));
}

}  // namespace
}  // namespace enginehost::preflight
