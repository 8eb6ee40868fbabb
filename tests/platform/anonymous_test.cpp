#include "host/platform/platform.hpp"

#include <gmock/gmock.h>

#include "tests/platform/full_platform.hpp"
#include "tests/platform/variable.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string hidden(const std::string& text, const Identity& identity = {"/home/anna", "anna"}) {
  return anonymous(Json(text), identity).as_string();
}

TEST(Anonymous, HomesBecomeATildeAnywhere) {
  EXPECT_EQ(hidden("/home/anna/lib:/opt:/home/anna"), "~/lib:/opt:~");
  EXPECT_EQ(hidden("statvfs of /home/anna/.cache"), "statvfs of ~/.cache");
}

TEST(Anonymous, OtherPeoplesHomesLoseTheirName) {
  EXPECT_EQ(hidden("/home/bertha/x"), "/home/user/x");
  EXPECT_EQ(hidden("/Users/carla/Library"), "/Users/user/Library");
  EXPECT_EQ(hidden("C:\\Users\\dora\\AppData"), "C:\\Users\\user\\AppData");
  EXPECT_EQ(hidden("/home/annabel/x"), "/home/user/x");
}

TEST(Anonymous, WindowsPathsIgnoreCaseAndNamesMayHaveSpaces) {
  const Identity anna{"C:\\users\\Anna Berg", "Anna Berg"};
  EXPECT_EQ(hidden("of C:\\Users\\anna berg\\AppData", anna), "of ~\\AppData");
  EXPECT_EQ(hidden("C:\\Users\\Dora May\\x;D:\\y", anna), "C:\\Users\\user\\x;D:\\y");
  EXPECT_EQ(hidden("c:\\USERS\\Dora failed", anna), "c:\\USERS\\user failed");
  EXPECT_EQ(hidden("D:\\models\\Anna Berg\\x", anna), "D:\\models\\user\\x");
}

TEST(Anonymous, TheUsersNameIsRemovedAsAPathElementOnly) {
  EXPECT_EQ(hidden("/scratch/anna/models"), "/scratch/user/models");
  EXPECT_EQ(hidden("/opt/annaconda"), "/opt/annaconda");
}

TEST(Anonymous, FoldersOfHomesAreRecognizedAnywhere) {
  EXPECT_EQ(hidden("/data/users/ivan/lib:/mnt/Users/olga/x"), "/data/users/user/lib:/mnt/Users/user/x");
  EXPECT_EQ(hidden("/export/home/ivan/lib"), "/export/home/user/lib");
  EXPECT_EQ(hidden("/nfs/u/anna7/lib", {"/home/anna", "anna", "/nfs/u/anna7"}), "~/lib");
}

TEST(Anonymous, AnAccountOfTheSystemIsAUserToo) {
  EXPECT_EQ(hidden("/scratch/nobody/lib", {"/nonexistent", "nobody"}), "/scratch/user/lib");
  EXPECT_EQ(hidden("/usr/bin/x", {"", "bin"}), "/usr/bin/x") << "a folder of every system";
}

TEST(Anonymous, UuidsAreRemovedEvenWhenShortened) {
  EXPECT_EQ(hidden("GPU-11111111-2222-3333-4444-555555555555,GPU-6666"), "GPU-…,GPU-…");
  EXPECT_EQ(hidden("MIG-GPU-11111111-2222/1/0"), "MIG-GPU-…/1/0");
}

TEST(Anonymous, AHomeThatIsTheRootChangesNothing) { EXPECT_EQ(hidden("/usr/lib", {"", ""}), "/usr/lib"); }

TEST(Anonymous, ReportNamesNobodyAndStillReads) {
  const Variable home("HOME", "/home/anna");
  const Json report = to_json(full_platform(), true);
  const std::string text = report.dump();
  EXPECT_THAT(text, Not(HasSubstr("anna")));
  EXPECT_THAT(text, Not(HasSubstr("11111111")));
  EXPECT_THAT(text, Not(HasSubstr("uuid")));
  const auto back = platform_from_json(report, "report");
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(back->cuda.devices.value().at(0).visible);
  EXPECT_FALSE(back->cuda.devices.value().at(1).visible);
}

}  // namespace
}  // namespace enginehost::platform
