// A build's own libraries: which are opened first, which can be left out, which are opened later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class View : public ::testing::Test {
 protected:
  std::string needs(const std::string& library) {
    return "-Wl,--no-as-needed -L" + faults::quoted(workshop_.path("lib")) + " -l:" + library +
           " -Wl,--allow-shlib-undefined";
  }
  std::filesystem::path part(const std::string& name, const std::string& flags = {}) {
    return workshop_.library("lib/" + name, "int part_of_" + name.substr(3, 1) + "(void){return 1;}",
                             "-Wl,-soname," + name + " " + flags);
  }
  faults::Workshop workshop_;
};

TEST_F(View, LibrariesAreOpenedLeavesFirstByAbsolutePath) {
  part("libc1.so");
  part("libb1.so", needs("libc1.so"));
  part("liba1.so", needs("libb1.so") + " " + needs("libc1.so"));
  const auto plugin = workshop_.plugin("libengine_x.so", needs("liba1.so"));
  const Report report = check(build(workshop_, plugin));
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses[0]));
  EXPECT_THAT(report.load_order, ElementsAre(workshop_.path("lib/libc1.so"), workshop_.path("lib/libb1.so"),
                                             workshop_.path("lib/liba1.so")));
}

TEST_F(View, AMissingRunpathIsBridgedWithAWarning) {
  part("libc1.so");
  part("libb1.so", needs("libc1.so"));  // no RUNPATH that leads to libc1.so
  const auto plugin = workshop_.plugin("libengine_x.so", needs("libb1.so") + " -Wl,-rpath,'$ORIGIN/lib'");
  const Report report = check(build(workshop_, plugin));
  EXPECT_EQ(report.verdict, Verdict::loads);
  const Diagnosis* warning = find(report.warnings, "EH-L03");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::library), "libc1.so");
  EXPECT_EQ(warning->value(Key::present_at), workshop_.path("lib/libc1.so").native());
  EXPECT_THAT(explain::describe(*warning), ::testing::HasSubstr("nothing to do"));
}

TEST_F(View, AForeignLibraryOfTheSameNameIsWarnedOfAndNotTaken) {
  part("libb1.so");
  const auto plugin = workshop_.plugin("libengine_x.so", needs("libb1.so") + " -Wl,-rpath,'$ORIGIN/lib'");
  faults::Workshop elsewhere;
  elsewhere.library("libb1.so", "int part_of_b(void){return 2;}", "-Wl,-soname,libb1.so");
  Spec spec = build(workshop_, plugin);
  spec.machine.library_path = {elsewhere.folder().native()};
  spec.machine.library_path_text = elsewhere.folder().native();
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::loads);
  const Diagnosis* warning = find(report.warnings, "EH-L11");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), elsewhere.path("libb1.so").native());
  EXPECT_EQ(warning->value(Key::wanted), workshop_.path("lib/libb1.so").native());
  for (const auto& item : report.closure) EXPECT_NE(item.path, elsewhere.path("libb1.so").native());
}

TEST_F(View, ABrokenOptionalLibraryIsLeftOutWithOneWarning) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const auto gone = part("libd1.so");
  part("libnvfuser.so", needs("libd1.so"));
  workshop_.remove(gone);
  Spec spec = build(workshop_, plugin);
  spec.optional = {"lib/libnvfuser*.so"};
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.diagnoses, IsEmpty());
  EXPECT_THAT(report.left_out, ElementsAre(workshop_.path("lib/libnvfuser.so")));
  ASSERT_THAT(report.warnings, SizeIs(1));
  EXPECT_EQ(report.warnings[0].value(Key::library), "libd1.so");
}

TEST_F(View, ALibraryThatMayBeOpenedLaterAndIsBrokenLeavesADoubt) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const auto gone = part("libd1.so");
  const auto later = part("libruntime.so", needs("libd1.so"));
  workshop_.remove(gone);
  const Report report = check(build(workshop_, plugin));
  EXPECT_EQ(report.verdict, Verdict::unsure);
  ASSERT_EQ(first_code(report), "EH-L01");
  EXPECT_EQ(report.diagnoses.front().value(Key::needed_by), later.native());
}

TEST_F(View, ALazyLibraryThatIsBrokenFails) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const auto gone = part("libd1.so");
  part("libruntime.so", needs("libd1.so"));
  workshop_.remove(gone);
  Spec spec = build(workshop_, plugin);
  spec.lazy = {"libruntime.so"};
  EXPECT_EQ(check(spec).verdict, Verdict::fails);
}

TEST_F(View, AMissingLazyLibraryIsR15) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  std::filesystem::create_directory(workshop_.path("lib"));
  Spec spec = build(workshop_, plugin);
  spec.lazy = {"libcudnn_cnn_infer.so.8"};
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-R15");
  EXPECT_EQ(report.diagnoses.front().value(Key::library), "libcudnn_cnn_infer.so.8");
}

TEST_F(View, ATruncatedLibraryOfTheBuildFailsWhateverOpensIt) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const auto whole = part("libruntime.so");
  workshop_.cut(whole, "lib/libcut.so", 4096);
  const Report report = check(build(workshop_, plugin));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-F04");
  EXPECT_EQ(report.diagnoses.front().value(Key::file), workshop_.path("lib/libcut.so").native());
}

TEST_F(View, NeighborsOfALibraryOpenedLaterAreOpenedFirst) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  part("libc1.so");
  part("libruntime.so", needs("libc1.so"));  // would not find libc1.so by itself
  const Report report = check(build(workshop_, plugin));
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses[0]));
  EXPECT_THAT(report.load_order, ElementsAre(workshop_.path("lib/libc1.so")));
}

TEST_F(View, ALibraryOfThatNameAlreadyInTheProcessIsWarnedOf) {
  part("libb1.so");
  const auto plugin = workshop_.plugin("libengine_x.so", needs("libb1.so"));
  faults::Workshop elsewhere;
  const auto other = elsewhere.library("libb1.so", "int part_of_b(void){return 2;}", "-Wl,-soname,libb1.so");
  Spec spec = build(workshop_, plugin);
  spec.machine.loaded.push_back({"libb1.so", other});
  const Report report = check(spec);
  const Diagnosis* warning = find(report.warnings, "EH-L17");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), other.native());
}

}  // namespace
}  // namespace enginehost::preflight
