// The contents of the file itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::HasSubstr;

class Content : public ::testing::Test {
 protected:
  void expect_fails(const std::filesystem::path& file, const std::string& code) {
    const Report report = check(alone(file));
    EXPECT_EQ(report.verdict, Verdict::fails) << file;
    EXPECT_EQ(first_code(report), code) << file;
    if (!report.diagnoses.empty()) {
      EXPECT_EQ(report.diagnoses.front().value(Key::file), file.native());
      EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr(file.native()));
    }
  }
  faults::Workshop workshop_;
};

TEST_F(Content, ACompleteLibraryLoads) {
  const Report report = check(alone(workshop_.library("libwhole.so", "int f(void){return 1;}")));
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses[0]));
  EXPECT_EQ(report.kind, binary::Kind::elf);
}

TEST_F(Content, AMissingFileIsF01) { expect_fails(workshop_.path("libnone.so"), "EH-F01"); }

TEST_F(Content, AnEmptyFileIsF02) { expect_fails(workshop_.file("libzero.so", ""), "EH-F02"); }

TEST_F(Content, LessThanAHeaderIsF03) {
  const auto whole = workshop_.library("libwhole.so", "int f(void){return 1;}");
  expect_fails(workshop_.cut(whole, "libshort.so", 40), "EH-F03");
}

TEST_F(Content, ATruncatedFileIsF04WithBothSizes) {
  const auto whole = workshop_.library("libwhole.so", "int f(void){return 1;} int data[4000] = {1};");
  for (const std::uintmax_t size : {64u, 600u, 4096u, 8192u}) {
    const auto cut = workshop_.cut(whole, "libcut.so", size);
    expect_fails(cut, "EH-F04");
    const Report report = check(alone(cut));
    EXPECT_EQ(report.diagnoses.front().value(Key::size), std::to_string(size));
    EXPECT_FALSE(report.diagnoses.front().value(Key::needed_size).empty());
  }
}

TEST_F(Content, AWebPageIsF05WithItsTitle) {
  const auto page = workshop_.file("libpage.so",
                                   "<!DOCTYPE html><html><head><title>Login - Hotel WiFi</title></head>"
                                   "<body>please sign in to use the network of this hotel</body></html>\n");
  expect_fails(page, "EH-F05");
  EXPECT_THAT(explain::describe(check(alone(page)).diagnoses.front()), HasSubstr("Login - Hotel WiFi"));
}

TEST_F(Content, ACompressedFileIsF06) {
  const auto whole = workshop_.library("libwhole.so", "int f(void){return 1;}");
  ASSERT_EQ(
      faults::shell("gzip -c " + faults::quoted(whole) + " > " + faults::quoted(workshop_.path("libgz.so"))),
      0);
  expect_fails(workshop_.path("libgz.so"), "EH-F06");
}

TEST_F(Content, AGitLfsPointerIsF07) {
  expect_fails(workshop_.file("liblfs.so",
                              "version https://git-lfs.github.com/spec/v1\noid sha256:"
                              "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
                              "size 12345\n"),
               "EH-F07");
}

TEST_F(Content, AnExecutableIsF10) {
  workshop_.file("main.c", "int main(void){return 0;}");
  ASSERT_EQ(faults::shell("gcc -pie -fPIE -o " + faults::quoted(workshop_.path("libpie.so")) + " " +
                          faults::quoted(workshop_.path("main.c"))),
            0);
  expect_fails(workshop_.path("libpie.so"), "EH-F10");
}

TEST_F(Content, AFolderIsF11) {
  std::filesystem::create_directory(workshop_.path("libfolder.so"));
  expect_fails(workshop_.path("libfolder.so"), "EH-F11");
}

TEST_F(Content, ABrokenLinkIsF11AndNamesItsTarget) {
  std::filesystem::create_symlink("nowhere.so.1", workshop_.path("liblink.so"));
  expect_fails(workshop_.path("liblink.so"), "EH-F11");
  EXPECT_THAT(explain::describe(check(alone(workshop_.path("liblink.so"))).diagnoses.front()),
              HasSubstr("nowhere.so.1"));
}

TEST_F(Content, ALibraryThatForbidsDlopenIsF13) {
  expect_fails(workshop_.library("libno.so", "int f(void){return 1;}", "-Wl,-z,nodlopen"), "EH-F13");
}

TEST_F(Content, AnotherProcessorIsL04AndNamesBoth) {
  const auto other = workshop_.library("libarm.so", "int f(void){return 1;}");
  workshop_.make_foreign(other);
  expect_fails(other, "EH-L04");
  EXPECT_THAT(explain::describe(check(alone(other)).diagnoses.front()), HasSubstr(test::other_architecture));
}

TEST_F(Content, A32BitLibraryIsL06) {
  const auto other = workshop_.library_with("gcc", "lib32.so", "int f(void){return 1;}", "-m32 -nostdlib");
  if (other.empty()) GTEST_SKIP() << "gcc-multilib is not installed";
  expect_fails(other, "EH-L06");
}

TEST_F(Content, AForeignOsAbiIsL07) {
  const auto file = workshop_.library("libbsd.so", "int f(void){return 1;}");
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(7);
  bytes.put(9);  // FreeBSD
  bytes.close();
  expect_fails(file, "EH-L07");
}

TEST_F(Content, AClosedFileIsL25AndNamesTheClosedPath) {
  const auto file = workshop_.library("libclosed.so", "int f(void){return 1;}");
  std::filesystem::permissions(workshop_.folder(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(file, std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;
  ASSERT_EQ(::seteuid(root ? 65534 : ::geteuid()), 0);
  const Report report = check(alone(file));
  ASSERT_EQ(::seteuid(root ? 0 : ::geteuid()), 0);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L25");
  EXPECT_FALSE(report.diagnoses.front().value(Key::blocked_by).empty());
}

TEST_F(Content, AFolderMountedNoexecIsL22) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a folder noexec";
  const auto folder = workshop_.path("mounted");
  std::filesystem::create_directory(folder);
  const std::string where = faults::quoted(folder);
  if (faults::shell("mount -t tmpfs -o noexec none " + where + " 2>/dev/null") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  workshop_.library("libwhole.so", "int f(void){return 1;}");
  std::filesystem::copy_file(workshop_.path("libwhole.so"), folder / "libx.so");
  const Report report = check(alone(folder / "libx.so"));
  faults::shell("umount " + where);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L22");
  EXPECT_EQ(report.diagnoses.front().value(Key::folder), folder.native());
  EXPECT_EQ(report.diagnoses.front().value(Key::mount_point), folder.native());
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("ENGINEHOST_CACHE"));
}

TEST_F(Content, L22ANeedInAFolderMountedNoexecIsFound) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a folder noexec";
  const auto folder = workshop_.path("mounted");
  std::filesystem::create_directory(folder);
  const std::string where = faults::quoted(folder);
  if (faults::shell("mount -t tmpfs -o noexec none " + where + " 2>/dev/null") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  workshop_.library("libneed.so", "int f(void){return 1;}", "-Wl,-soname,libneed.so");
  workshop_.library("libx.so", "int f(void); int g(void){return f();}",
                    "-L" + faults::quoted(workshop_.path("")) + " -lneed -Wl,-rpath," + where);
  std::filesystem::rename(workshop_.path("libneed.so"), workshop_.path("moved.so"));
  std::filesystem::copy_file(workshop_.path("moved.so"), folder / "libneed.so");
  const Report report = check(alone(workshop_.path("libx.so")));
  faults::shell("umount " + where);
  ASSERT_EQ(first_code(report), "EH-L22");
  const Diagnosis& reported = report.diagnoses.front();
  EXPECT_EQ(reported.value(Key::file), (folder / "libneed.so").native());
  EXPECT_EQ(reported.value(Key::library), "libneed.so");
  EXPECT_THAT(explain::describe(reported), Not(HasSubstr("ENGINEHOST_CACHE")));
}

// The library that the program below checks.
TEST(ProgramWithLoaderSettings, DISABLED_ChecksALibrary) {
  const std::filesystem::path file = std::getenv("ENGINEHOST_TEST_LIBRARY");
  EXPECT_EQ(name_of(check(alone(file)).verdict), std::string(std::getenv("ENGINEHOST_TEST_VERDICT")));
}

TEST_F(Content, TheSearchIsUncertainUnderUnsupportedLoaderSettings) {
  const auto need = workshop_.library("libneed.so", "int f(void){return 1;}", "-Wl,-soname,libneed.so");
  const auto user =
      workshop_.library("libx.so", "int f(void); int g(void){return f();}", faults::quoted(need));
  const auto empty = workshop_.file("libzero.so", "");
  const auto reported = [&](const std::string& variable, const std::filesystem::path& file,
                            const char* verdict) {
    return faults::shell(
               "env " + variable + " ENGINEHOST_TEST_LIBRARY=" + faults::quoted(file) +
               " ENGINEHOST_TEST_VERDICT=" + verdict + " " +
               faults::quoted(std::filesystem::read_symlink("/proc/self/exe")) +
               " --gtest_also_run_disabled_tests --gtest_filter=ProgramWithLoaderSettings.* >/dev/null "
               "2>&1") == 0;
  };
  EXPECT_TRUE(reported("LD_AUDIT=", user, "fails"));
  EXPECT_TRUE(reported("LD_AUDIT=/nowhere/audit.so", user, "unsure"));
  EXPECT_TRUE(reported("LD_AUDIT=/nowhere/audit.so", need, "unsure"));
  EXPECT_TRUE(reported("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2", need, "unsure"));
  EXPECT_TRUE(reported("LD_AUDIT=/nowhere/audit.so", empty, "fails")) << "whatever is found";
  workshop_.make_foreign(need);
  EXPECT_TRUE(reported("GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2", need, "fails")) << "whatever is found";
  // Another file may be found in the place of the needed one.
  EXPECT_TRUE(reported("LD_AUDIT=", user, "fails"));
  EXPECT_TRUE(reported("LD_AUDIT=/nowhere/audit.so", user, "unsure"));
}

}  // namespace
}  // namespace enginehost::preflight
