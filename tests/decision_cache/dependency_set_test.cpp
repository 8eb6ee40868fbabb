// The lines of a cached decision's dependencies, each of which notices every change of its subject.
#include "host/decision_cache/dependency.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "base/file_system.hpp"
#include "base/files.hpp"
#include "tests/support/posix/limit.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using What = platform::MachineInput::What;
using Kind = Dependency::Kind;

class DependencySetTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "here/deep");
    test::write_text(folder_ / "here/file", "text");
  }
  std::string at(const std::string& name) const { return (folder_ / name).native(); }
  // The view of a program that began so much later that all files are at rest.
  static std::int64_t later() { return wall_clock_ns() + 5'000'000'000; }
  std::string lines() const {
    const auto text = dependencies_.text();
    return text ? *text : "nothing";
  }
  static bool holds(const std::string& text) { return DependencySet::holds(text, 0); }
  void put(const std::string& name) { test::write_text(folder_ / name, "new"); }
  static void make_it_later(const fs::path& path) {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  }

  test::TemporaryFolder folder_;
  DependencySet dependencies_{later(), {}};
};

TEST_F(DependencySetTest, NamesAreLookedForWhetherTheyExistOrNot) {
  fs::create_symlink(folder_ / "elsewhere", folder_ / "here/leads-nowhere");
  for (const char* name : {"here/file", "here/one", "here/two/deep/inside", "here/leads-nowhere"})
    dependencies_.add({What::presence, at(name)});
  const std::string text = lines();
  EXPECT_THAT(text, HasSubstr("there " + at("here/file") + "\n"));
  EXPECT_THAT(text, HasSubstr("absent " + at("here/one") + "\n"));
  EXPECT_TRUE(holds(text));
  put("here/other");
  EXPECT_TRUE(holds(text));
  put("elsewhere");
  EXPECT_FALSE(holds(text)) << "the folder of the link did not change";
  fs::remove(folder_ / "elsewhere");
  fs::create_directories(folder_ / "here/two/deep/inside");
  EXPECT_FALSE(holds(text));
  fs::remove_all(folder_ / "here/two");
  EXPECT_TRUE(holds(text));
  fs::remove(folder_ / "here/file");
  EXPECT_FALSE(holds(text));
}

TEST_F(DependencySetTest, EachCheckOfAFileIsMadeOnce) {
  for (int i = 0; i < 2; ++i) {
    dependencies_.add(Kind::rights, at("here/file"));
    dependencies_.add({What::stamp, at("here/file")});
  }
  const std::string text = lines();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_TRUE(holds(text));
  ASSERT_EQ(::chmod(at("here/file").c_str(), 0600), 0);
  EXPECT_FALSE(holds(text));
}

TEST_F(DependencySetTest, LeavesOutAFileThatIsRecordedElsewhere) {
  DependencySet dependencies(later(), {at("here/file")});
  for (const char* name : {"here/file", "here/deep"}) dependencies.add(Kind::stamp, at(name));
  const auto text = dependencies.text();
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, Not(HasSubstr("here/file")));
  EXPECT_THAT(*text, HasSubstr("here/deep"));
}

TEST_F(DependencySetTest, TwoStampsOfOneFileNeverHold) {
  dependencies_.add({What::stamp, at("here/file")});
  EXPECT_TRUE(holds(lines()));
  make_it_later(folder_ / "here/file");
  dependencies_.add({What::stamp, at("here/file")});
  EXPECT_FALSE(holds(lines()));
}

TEST_F(DependencySetTest, AFileThatJustChangedGivesNoText) {
  DependencySet now(wall_clock_ns(), {});
  now.add(Kind::rights, at("here/file"));
  EXPECT_EQ(now.text(), std::nullopt);
}

TEST_F(DependencySetTest, AnEmptyFolderIsCheckedByItsNames) {
  dependencies_.add(Kind::empty, at("here/deep"));
  const std::string text = lines();
  EXPECT_THAT(text, testing::StartsWith("empty "));
  EXPECT_TRUE(holds(text));
  put("here/deep/sentinel");
  EXPECT_FALSE(holds(text));
  fs::remove(folder_ / "here/deep/sentinel");
  make_it_later(folder_ / "here/deep");
  EXPECT_TRUE(holds(text));
}

TEST_F(DependencySetTest, ContentNamesAndMountsAreCompared) {
  dependencies_.add({What::content, at("here/file")});
  dependencies_.add({What::names, at("here")});
  dependencies_.add({What::noexec, at("here")});
  dependencies_.add({What::noexec, "/proc"});
  const std::string text = lines();
  EXPECT_TRUE(holds(text));
  // Where code may run, a load reports it when that ends.
  EXPECT_THAT(text, Not(HasSubstr("noexec " + at("here"))));
  EXPECT_EQ(text.find("noexec /proc\n") != std::string::npos, forbids_execution("/proc"));
  EXPECT_FALSE(holds("noexec " + at("here") + "\n"));
  test::write_text(folder_ / "here/file", "TEXT");
  EXPECT_FALSE(holds(text));
  test::write_text(folder_ / "here/file", "text");
  EXPECT_TRUE(holds(text));
  put("here/other");
  EXPECT_FALSE(holds(text));
}

TEST_F(DependencySetTest, TheBootIsIdentifiedByItsClocks) {
  dependencies_.add({What::boot, "/proc/sys/kernel/random/boot_id"});
  const std::string text = lines();
  ASSERT_THAT(text, testing::StartsWith("boot "));
  EXPECT_TRUE(holds(text));
  const std::int64_t moment = std::stoll(text.substr(5));
  const std::int64_t now = wall_clock_ns();
  EXPECT_LT(moment, now);
  for (const std::int64_t other : {moment - 1'000'000'000, moment + 1'000'000'000, now})
    EXPECT_FALSE(holds("boot " + std::to_string(other) + " \n"));
}

TEST_F(DependencySetTest, APathWithALineBreakGivesNoText) {
  dependencies_.add(Kind::writable, at("here") + "\nstamp");
  EXPECT_EQ(lines(), "nothing");
  DependencySet other(later(), {});
  other.add(Kind::rights, at("here") + "\nabsent /nothing");
  EXPECT_EQ(other.text(), std::nullopt);
}

TEST_F(DependencySetTest, ATimeThatIsSetBackHidesNoName) {
  dependencies_.add({What::presence, at("here/one")});
  dependencies_.add({What::presence, at("here/two")});
  dependencies_.add(Kind::empty, at("here/deep"));
  const std::string text = lines();
  for (const char* name : {"here/one", "here/deep/one"}) {
    const fs::path folder = (folder_ / name).parent_path();
    const auto before = fs::last_write_time(folder);
    put(name);
    fs::last_write_time(folder, before);
    EXPECT_FALSE(holds(text)) << name;
    fs::remove(folder_ / name);
    EXPECT_TRUE(holds(text)) << name;
  }
}

TEST_F(DependencySetTest, MalformedLinesNeverHold) {
  for (const char* line : {"stamp 1 2 3\n", "stamp x 2 3 4 /\n", "noexec maybe /\n", "content /\n",
                           "anything /\n", "rights 1 2 /\n", "until never\n", "absent\n", "\n",
                           "absent /no/line/end", "stamp 1 2 3 4", "stamp 99999999999999999999999 2 3 4 /\n"})
    EXPECT_FALSE(holds(line)) << line;
}

TEST(Dependency, AChecksumChangesWithEachByteAndWithTheLength) {
  for (const std::size_t length : {0u, 1u, 7u, 8u, 15u, 16u, 17u, 33u, 4096u}) {
    std::string text(length, 'x');
    const auto whole = checksum(text);
    EXPECT_EQ(checksum_text(text).size(), 32u);
    EXPECT_EQ(whole, checksum(text));
    for (std::size_t i = 0; i < length; ++i) {
      text[i] ^= 1;
      EXPECT_NE(checksum(text), whole) << i << " of " << length;
      text[i] ^= 1;
    }
    EXPECT_NE(checksum(text + std::string(1, '\0')), whole) << length;
  }
}

TEST(Dependency, AnUnreadableFolderIsNotEmpty) {
  const test::TemporaryFolder folder;
  const auto is_empty = [&](const char* name) {
    return Dependency{Dependency::Kind::empty, {}, (folder / name).native()}.holds(0);
  };
  fs::create_directory(folder / "empty");
  test::write_text(folder / "full/one", "text");
  EXPECT_TRUE(is_empty("empty"));
  EXPECT_TRUE(is_empty("absent"));
  EXPECT_FALSE(is_empty("full"));
  const test::Limit no_descriptor(RLIMIT_NOFILE, 0);
  EXPECT_FALSE(is_empty("empty"));
  EXPECT_FALSE(is_empty("full"));
}

}  // namespace
}  // namespace enginehost::open
