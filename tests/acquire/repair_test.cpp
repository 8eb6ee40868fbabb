// A damaged build is repaired by fetching only the damaged files from its sources.
#include "host/acquire/acquire.hpp"

#include "base/file_calls.hpp"
#include "cache/check.hpp"
#include "tests/acquire/acquire_fixture.hpp"

namespace enginehost::acquire {
namespace {

class RepairTest : public AcquireTest {
 protected:
  fs::path install(const std::string& kind = "zip") {
    offer(test::make_archive(kind, content), kind);
    const auto installed = get();
    EXPECT_TRUE(installed) << (installed ? "" : std::string(installed.error().code_text()));
    return installed ? installed->installed.folder : fs::path();
  }
  static void damage(const fs::path& file, std::string_view text) {
    calls::chmod(file, 0644);
    test::write_text(file, text);
    calls::chmod(file, 0444);
  }
  Result<cache::Repaired> repair_it() {
    return repair(sample.build->id, sample.build.get(), store, options, cancel);
  }
  void expect_whole() {
    const auto violations = cache::check(store.root());
    ASSERT_TRUE(violations);
    for (const cache::Violation& violation : *violations) ADD_FAILURE() << violation.problem.path;
  }
  std::uint64_t bytes_sent() const {
    std::istringstream lines(server.log());
    std::uint64_t sum = 0;
    for (std::string method, path, status, rest; lines >> method >> path >> status;) {
      std::uint64_t size = 0;
      lines >> size;
      std::getline(lines, rest);
      sum += size;
    }
    return sum;
  }
};

TEST_F(RepairTest, FetchesASmallFileOfAZipWithItsOwnRange) {
  // So long that the bytes a server sends before it notices the end are a small part.
  auto large = content;
  large.push_back({"lib/libmore.so.1",
                   "\x7f"
                   "ELF" +
                       test::noise(24'000'000, 7)});
  large.push_back({"lib/last.txt", std::string(3000, 'l')});
  offer(test::make_archive("zip", large));
  const auto installed = get();
  ASSERT_TRUE(installed);
  const fs::path view = installed->installed.folder;
  const std::uint64_t before = bytes_sent();
  damage(view / "lib/last.txt", std::string(3000, 'x'));
  fs::remove(view / "bin/tool");
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  // The tool's tree still had the file.
  ASSERT_EQ(repaired->files.size(), 2u);
  for (const cache::RepairedFile& file : repaired->files)
    if (file.problem.path == "lib/last.txt") {
      EXPECT_THAT(file.from, HasSubstr(server.url("runtime")));
    }
  expect_whole();
  EXPECT_EQ(test::read_text(view / "lib/last.txt"), std::string(3000, 'l'));
  EXPECT_LT(bytes_sent() - before, bytes.size() / 2) << "of " << bytes.size();
}

TEST_F(RepairTest, FetchesAFileInTheMiddleOfAZip) {
  const fs::path view = install();
  damage(view / "lib/libruntime.so.1", "cut");
  fs::remove(view / "lib/data.txt");
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  expect_whole();
  EXPECT_EQ(test::read_text(view / "lib/libruntime.so.1"), content[0].bytes);
}

TEST_F(RepairTest, ReadsALocalArchiveInParts) {
  const std::string archive = test::make_archive("zip", content);
  test::write_text(folder / "repository/runtime.zip", archive);
  sample.runtime().artifacts = {SampleBuild::artifact(archive, "zip", {SampleBuild::file("runtime.zip")})};
  const auto installed = get();
  ASSERT_TRUE(installed);
  damage(installed->installed.folder / "lib/data.txt", "x");
  options.transfer.offline = true;
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired);
  EXPECT_TRUE(repaired->left.empty());
  expect_whole();
}

TEST_F(RepairTest, ReinstallsWhatComesOnlyAsAWhole) {
  const fs::path view = install("tar.gz");
  damage(view / "lib/data.txt", "x");
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->left.size(), 1u);
  EXPECT_EQ(repaired->left[0].path, "lib/data.txt");
  EXPECT_FALSE(repaired->not_fetched.empty());
  {
    auto stage = store.stage(cache::Store::key_of(sample.build->id));
    ASSERT_TRUE(stage);
    ASSERT_TRUE(store.reject_damaged(sample.build->id, *stage));
  }
  options.transfer.offline = true;
  ASSERT_TRUE(get()) << "its libraries are right, and no source can be asked";
  EXPECT_EQ(test::read_text(view / "lib/data.txt"), "x");
  options.transfer.offline = false;
  ASSERT_TRUE(get());
  expect_whole();
}

TEST_F(RepairTest, RefetchesFromAServerWithoutRanges) {
  const test::NginxServer whole_only("max_ranges 0;");
  const std::string archive = test::make_archive("zip", {{"lib/a.so.1",
                                                          "\x7f"
                                                          "ELF" +
                                                              test::noise(900'000)},
                                                         {"lib/b.txt", "b"}});
  test::write_text(whole_only.root() / "runtime", archive);
  sample.runtime().artifacts = {
      SampleBuild::artifact(archive, "zip", {SampleBuild::url(whole_only.url("runtime"))})};
  const auto installed = get();
  ASSERT_TRUE(installed);
  damage(installed->installed.folder / "lib/b.txt", "x");
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_EQ(repaired->left.size(), 1u);
  ASSERT_EQ(repaired->not_fetched.size(), 1u);
  EXPECT_EQ(repaired->not_fetched[0].code, "EH-N02");
}

TEST_F(RepairTest, RefusesAnArchiveThatChanged) {
  const fs::path view = install();
  auto other = content;
  other[1].bytes = std::string(50'000, 'y');
  std::string archive = test::make_archive("zip", other);
  ASSERT_EQ(archive.size(), bytes.size());
  test::write_text(server.root() / "runtime", archive);
  damage(view / "lib/data.txt", "x");
  const auto repaired = repair_it();
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->left.size(), 1u) << "its digest is another";
  EXPECT_EQ(test::read_text(view / "lib/data.txt"), "x");
}

}  // namespace
}  // namespace enginehost::acquire
