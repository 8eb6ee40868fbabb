#include <chrono>
#include <thread>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "tests/acquire/acquire_fixture.hpp"
#include "tests/support/links.hpp"

namespace enginehost::acquire {
namespace {

TEST_F(AcquireTest, InstallsEveryKindOfArchive) {
  for (const char* kind : {"zip", "tar", "tar.gz", "tar.xz", "tar.zst"}) {
    offer(test::make_archive(kind, content), kind);
    const auto result = get();
    ASSERT_TRUE(result) << kind << " " << result.error().code << " " << result.error().value(Key::problem);
    EXPECT_EQ(installed_text("lib/libruntime.so.1"), content[0].bytes) << kind;
    EXPECT_EQ(installed_text("lib/data.txt"), content[1].bytes) << kind;
    calls::Status status{};
    ASSERT_EQ(calls::stat(result->installed.folder / "bin/tool", &status), 0);
    if (keeps_modes(folder.path())) {
      EXPECT_EQ(status.st_mode & 07777, 0555u) << kind;
    }
    EXPECT_GE(result->downloaded, bytes.size());
    EXPECT_TRUE(store.verify(sample.build->id, true)->empty());
    EXPECT_TRUE(fs::is_empty(folder / "cache/partial"));
    ASSERT_TRUE(store.remove(sample.build->id));
  }
}

TEST_F(AcquireTest, InstallsAFileThatIsNoArchive) {
  offer("model bytes", "none");
  artifact().path = "models/tiny.bin";
  ASSERT_EQ(code(), "ok");
  EXPECT_EQ(installed_text("models/tiny.bin"), "model bytes");
}

TEST_F(AcquireTest, StripsLeadingPartsAndExtractsTheSelection) {
  offer(test::make_archive("tar.gz",
                           {{"./top/lib/a.so", "a"}, {"top/lib/deep/b.so", "b"}, {"top/include/c.h", "c"}}),
        "tar.gz");
  artifact().strip = 1;
  artifact().select = {"lib/*.so"};
  ASSERT_EQ(code(), "ok");
  EXPECT_EQ(installed_text("lib/a.so"), "a");
  const auto view = store.find(sample.build->id).value()->folder;
  EXPECT_FALSE(fs::exists(view / "lib/deep"));
  EXPECT_FALSE(fs::exists(view / "include"));
}

TEST_F(AcquireTest, KeepsLinksThatStayInside) {
  if (!test::makes_links(folder.path())) GTEST_SKIP() << "no links here";
  for (const char* kind : {"tar.gz", "zip"}) {
    offer(test::make_archive(kind, {{"lib/a.so.1.2", "bytes"}, {"lib/a.so", "", 0777, "a.so.1.2"}}), kind);
    ASSERT_EQ(problem(), "ok") << kind;
    EXPECT_TRUE(fs::is_symlink(store.find(sample.build->id).value()->folder / "lib/a.so")) << kind;
    EXPECT_EQ(installed_text("lib/a.so"), "bytes");
    ASSERT_TRUE(store.remove(sample.build->id));
  }
}

TEST_F(AcquireTest, ReadsNamesBeyondAsciiWhateverTheLocale) {
  ASSERT_NE(std::setlocale(LC_ALL, "C"), nullptr);
  for (const char* kind : {"tar.gz", "zip"}) {
    std::setlocale(LC_ALL, "C.UTF-8");
    const std::string archive = test::make_archive(kind, {{"lib/größe.so", "bytes"}});
    std::setlocale(LC_ALL, "C");
    offer(archive, kind);
    EXPECT_EQ(problem(), "ok") << kind;
    EXPECT_EQ(installed_text("lib/größe.so"), "bytes") << kind;
    if (store.find(sample.build->id).value()) {
      ASSERT_TRUE(store.remove(sample.build->id));
    }
  }
}

TEST_F(AcquireTest, ABuildThatIsRemovedDuringADownloadIsFreedAtItsEnd) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  SampleBuild other;
  test::give_plugin(other, folder / "repository");
  const std::string archive = test::make_archive("zip", {{"lib/libother.so.1", test::noise(200'000)}});
  test::write_text(server.root() / "other", archive);
  other.runtime().artifacts = {
      SampleBuild::artifact(archive, "zip", {SampleBuild::url(server.url("other"))})};
  auto renamed = std::make_shared<manifest::Build>(*other.build);
  renamed->id = "other";
  bool removed = false;
  const auto remove_the_first = [&](const transfer::Progress& now) {
    if (removed || now.phase != transfer::Progress::Phase::publishing) return;
    removed = true;
    EXPECT_EQ(store.remove(sample.build->id).value(), 0u);
  };
  ASSERT_TRUE(acquire(*renamed, store, options, remove_the_first));
  EXPECT_TRUE(removed);
  const auto remains = store.find("other");
  ASSERT_TRUE(remains && *remains);
  std::size_t trees = 0;
  for (const auto& tree : fs::directory_iterator(folder / "cache/trees")) {
    static_cast<void>(tree);
    ++trees;
  }
  EXPECT_EQ(trees, (*remains)->trees.size());
  EXPECT_TRUE(store.verify("other", true)->empty());
}

TEST_F(AcquireTest, ASecondCallTransfersNothing) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  const auto again = get();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->downloaded, 0u);
  EXPECT_EQ(again->seconds, 0);
  EXPECT_EQ(server.requests("GET"), 1);
}

TEST_F(AcquireTest, ASecondBuildSharesTheComponent) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  sample.build->id = "sample-1.0-other";
  const auto other = get();
  ASSERT_TRUE(other);
  EXPECT_EQ(server.requests("GET"), 1);
}

TEST_F(AcquireTest, OtherBytesUnderTheSameIdAreAnotherBuild) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  offer(test::make_archive("zip", {{"lib/new.so", "new"}}));
  ASSERT_EQ(code(), "ok");
  EXPECT_EQ(installed_text("lib/new.so"), "new");
}

TEST_F(AcquireTest, TriesTheNextSourceAndReportsTheFirst) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "wrong", std::string(bytes.size(), 'x'));
  artifact().sources = {SampleBuild::url(server.url("missing")), SampleBuild::url(server.url("wrong")),
                        SampleBuild::url(server.url("runtime"))};
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  ASSERT_EQ(result->warnings.size(), 2u);
  EXPECT_EQ(result->warnings[0].code, "EH-N04");
  EXPECT_EQ(result->warnings[1].code, "EH-N08");
  EXPECT_EQ(result->warnings[1].value(Key::expected_sha256), artifact().sha256);
  EXPECT_THAT(result->sources, testing::Contains(server.url("runtime")));
}

TEST_F(AcquireTest, NamesEverySourceWhenAllFail) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "wrong", std::string(bytes.size(), 'x'));
  artifact().sources = {SampleBuild::url(server.url("wrong")), SampleBuild::url(server.url("missing"))};
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-N04") << "not every source gave wrong bytes";
  EXPECT_EQ(result.error().values(Key::source_tried).size(), 2u);
  EXPECT_EQ(result.error().value(Key::component), "runtime");
  expect_nothing_visible();
}

TEST_F(AcquireTest, ReportsWrongBytesFromEverySource) {
  offer(test::make_archive("zip", content));
  std::string wrong = bytes;
  wrong[1000] ^= 1;
  test::write_text(server.root() / "runtime", wrong);
  EXPECT_EQ(code(), "EH-N08");
  expect_nothing_visible();
  EXPECT_TRUE(fs::is_empty(folder / "cache/partial"));
  test::write_text(server.root() / "runtime", bytes.substr(0, 5000));
  EXPECT_EQ(code(), "EH-N07");
  test::write_text(server.root() / "runtime", bytes + "x");
  EXPECT_EQ(code(), "EH-N07");
  test::write_text(server.root() / "runtime", bytes);
  EXPECT_EQ(code(), "ok");
}

TEST_F(AcquireTest, NamesTheLoginPageThatCameInstead) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "runtime", "<html><title>Please sign in</title></html>");
  const auto with_size = get();
  ASSERT_FALSE(with_size);
  EXPECT_EQ(with_size.error().code, "EH-N06");
  EXPECT_EQ(with_size.error().value(Key::title), "Please sign in");
  artifact().size.reset();
  const auto without_size = get();
  ASSERT_FALSE(without_size);
  EXPECT_EQ(without_size.error().code, "EH-N06");
  EXPECT_EQ(without_size.error().value(Key::title), "Please sign in");
}

TEST_F(AcquireTest, FetchesAnArtifactOfUnknownSize) {
  offer(test::make_archive("zip", content));
  artifact().size.reset();
  EXPECT_EQ(code(), "ok");
}

TEST_F(AcquireTest, RefusesArchivesThatReachOutOfTheFolder) {
  offer(test::make_archive("tar", {{"../evil", "x"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: climbs out");
  offer(test::make_archive("tar", {{"/evil", "x"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: absolute");
  offer(test::make_zip({{"a/../../evil", "x"}}));
  EXPECT_EQ(problem(), "EH-F19: climbs out");
  offer(test::make_archive("tar", {{"lib/l", "", 0777, "../../evil"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: link points out of the folder");
  offer(test::make_archive("tar", {{"lib/l", "", 0777, "/etc"}, {"lib/l/passwd", "x"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: absolute link");
  offer(test::make_zip({{"lib/l", "/etc/passwd", 0120777}}));
  EXPECT_EQ(problem(), "EH-F19: absolute link");
  EXPECT_FALSE(fs::exists(folder / "evil"));
  expect_nothing_visible();
}

TEST_F(AcquireTest, RefusesEverythingButFilesAndLinks) {
  offer(test::make_archive("tar", {{"dev", "", 0644, "", "", true}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: neither a file nor a link");
  offer(test::make_archive("tar", {{"a", "x"}, {"b", "", 0644, "", "a"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: hard link");
  offer(test::make_zip({{"pipe", "", 0010644}}));
  EXPECT_EQ(problem(), "EH-F19: neither a file nor a link");
}

TEST_F(AcquireTest, RefusesDuplicatesAndNamesThatDifferInCase) {
  offer(test::make_archive("tar", {{"lib/a", "1"}, {"lib/a", "2"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: occurs twice");
  offer(test::make_archive("tar", {{"lib/a", "1"}, {"lib/A", "2"}}), "tar");
  EXPECT_EQ(problem(), "EH-F19: differs in case only");
}

TEST_F(AcquireTest, RefusesZipArchivesWhoseHeadersDisagree) {
  offer(test::make_zip({{"lib/a", "good"}, {"lib/b", "b"}}));
  EXPECT_EQ(problem(), "ok");
  ASSERT_TRUE(store.remove(sample.build->id));
  offer(test::make_zip({{.name = "lib/a", .bytes = "good", .header_name = "lib/z"}}));
  EXPECT_EQ(problem(), "EH-F21: header and directory name different files");
  offer(test::make_zip({{.name = "lib/a", .bytes = "good", .directory_size = 3}}));
  EXPECT_EQ(problem(), "EH-F21: header and directory differ in size");
  offer(test::make_zip({{.name = "lib/a", .bytes = "good", .directory_crc = 3}}));
  EXPECT_EQ(problem(), "EH-F21: header and directory differ in checksum");
  offer(test::make_zip({{"lib/a", "good"}, {.name = "lib/hidden", .bytes = "x", .only_header = true}}));
  EXPECT_EQ(problem(), "EH-F21: is in the archive but not in its directory");
  offer(test::make_zip({{"lib/a", "good"}, {.name = "lib/a", .bytes = "x", .only_directory = true}}));
  EXPECT_EQ(problem(), "EH-F21: occurs twice in the directory");
  expect_nothing_visible();
}

TEST_F(AcquireTest, ReadsZipEntriesWhoseSizeFollows) {
  offer(test::make_zip(
      {{.name = "lib/a", .bytes = test::noise(100'000), .sizes_follow = true}, {"lib/b", "b"}}));
  EXPECT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/a"), test::noise(100'000));
  ASSERT_TRUE(store.remove(sample.build->id));
  offer(test::make_zip({{.name = "lib/a", .bytes = "x", .directory_crc = 7, .sizes_follow = true}}));
  EXPECT_EQ(code(), "EH-F21");
}

TEST_F(AcquireTest, BoundsBombs) {
  options.unpacked_limit = 1'000'000;
  offer(test::make_archive("tar.gz", {{"bomb", std::string(5'000'000, '\0')}}), "tar.gz");
  EXPECT_EQ(problem(), "EH-F19: unpacks to more than is allowed");
  offer(test::make_archive("zip", {{"bomb", std::string(5'000'000, '\0')}}));
  EXPECT_EQ(problem(), "EH-F19: unpacks to more than is allowed");
}

TEST_F(AcquireTest, DistinguishesABrokenArchiveFromWrongBytes) {
  const std::string whole = test::make_archive("tar.gz", content);
  offer(whole.substr(0, whole.size() / 2), "tar.gz");
  EXPECT_EQ(code(), "EH-F21") << "the digest is right: the publisher's fault";
  offer("no zip at all");
  EXPECT_EQ(code(), "EH-F21");
  offer(test::make_archive("zip", content));
  artifact().select = {"nothing/*"};
  EXPECT_EQ(problem(), "EH-F21: it holds nothing that is selected");
}

TEST_F(AcquireTest, AnotherArtifactServesWhenOneIsBad) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "bad", "no zip at all");
  sample.runtime().artifacts.insert(
      sample.runtime().artifacts.begin(),
      SampleBuild::artifact("no zip at all", "zip", {SampleBuild::url(server.url("bad"))}));
  EXPECT_EQ(code(), "ok");
}

TEST_F(AcquireTest, RepairsADamagedBuild) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  const fs::path file = store.find(sample.build->id).value()->folder / "lib/libruntime.so.1";
  calls::chmod(file, 0644);
  test::write_text(file, "cut");
  const auto repaired = get();
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->repaired);
  ASSERT_FALSE(repaired->warnings.empty());
  EXPECT_EQ(repaired->warnings[0].code, "EH-F04");
  EXPECT_EQ(test::read_text(file), content[0].bytes);
  fs::remove(file);
  EXPECT_EQ(code(), "ok");
  EXPECT_EQ(server.requests("GET"), 2) << "a file that is only gone from the view comes from its tree";
}

// Damages a file as a disk or a careless user does: in place, under all its names.
class SharedDamage : public AcquireTest {
 protected:
  SharedDamage() {
    offer(test::make_archive("zip", content));
    EXPECT_EQ(code(), "ok");
    first = sample.build->id;
    sample.build->id = "sample-1.0-other";
  }
  fs::path tree_file() {
    return cache::Store::tree_folder(store.root(), store.record_of(first).value()->trees.at(1)) /
           "lib/libruntime.so.1";
  }
  void cut() {
    calls::chmod(tree_file(), 0644);
    fs::resize_file(tree_file(), 5000);
    calls::chmod(tree_file(), 0444);
  }
  void expect_whole(const std::string& build) {
    const auto problems = store.verify(build, true);
    ASSERT_TRUE(problems) << build;
    for (const cache::Problem& problem : *problems) ADD_FAILURE() << build << " " << problem.path;
    EXPECT_TRUE(store.find(build).value_or(std::nullopt)) << build;
  }
  std::string first;
};

TEST_F(SharedDamage, AnotherBuildRefetchesTheTreeForBoth) {
  cut();
  const auto other = get();
  ASSERT_TRUE(other) << other.error().code;
  EXPECT_TRUE(other->repaired);
  ASSERT_FALSE(other->warnings.empty());
  EXPECT_EQ(other->warnings[0].code, "EH-F04");
  EXPECT_EQ(server.requests("GET"), 2);
  expect_whole(sample.build->id);
  expect_whole(first);
}

TEST_F(SharedDamage, WrongBytesOfTheRightSizeAndTimeAreFound) {
  const auto time = fs::last_write_time(tree_file());
  calls::chmod(tree_file(), 0644);
  std::string wrong = content[0].bytes;
  wrong[7] ^= 1;
  test::write_text(tree_file(), wrong);
  calls::chmod(tree_file(), 0444);
  fs::last_write_time(tree_file(), time);
  ASSERT_EQ(code(), "ok");
  expect_whole(sample.build->id);
  expect_whole(first);
}

TEST_F(SharedDamage, AFileThatIsGoneComesBack) {
  fs::remove(tree_file());
  EXPECT_EQ(code(), "ok");
  expect_whole(sample.build->id);
  expect_whole(first);
}

TEST_F(SharedDamage, ATreeWithoutARecordIsChecked) {
  cut();
  fs::remove(folder / ("cache/refs/" + first + ".ref"));
  sample.build->id = first;
  EXPECT_EQ(code(), "ok");
  expect_whole(first);
}

TEST_F(SharedDamage, ATreeOfAForgottenArchiveIsReplacedByTheNextInstall) {
  cut();
  for (const auto& list : fs::directory_iterator(folder / "cache/lists"))
    if (list.path().filename().string().starts_with("of-")) fs::remove(list.path());
  EXPECT_EQ(code(), "ok");
  expect_whole(sample.build->id);
  expect_whole(first);
}

TEST_F(SharedDamage, WithoutASourceTheDamageIsTheCauseAndOneCopyIsKept) {
  for (int i = 0; i < 3; ++i) {
    cut();
    ASSERT_EQ(code(), "ok");
    store.remove(sample.build->id).value();
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "cache/rejected"), {}), 1);
  cut();
  options.transfer.offline = true;
  const auto other = get();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "EH-F04");
  EXPECT_EQ(other.error().value(Key::repair_failed), "EH-N10");
  EXPECT_FALSE(store.find(sample.build->id).value_or(std::nullopt)) << "never on record";
}

TEST_F(AcquireTest, WorksOfflineFromFilesAndFromWhatIsInstalled) {
  options.transfer.offline = true;
  offer(test::make_archive("zip", content));
  const auto refused = get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-N10");
  test::write_text(folder / "repository/runtime.zip", bytes);
  artifact().sources.push_back(SampleBuild::file("runtime.zip"));
  EXPECT_EQ(code(), "ok");
  artifact().sources.pop_back();
  EXPECT_EQ(code(), "ok");
  EXPECT_EQ(server.requests("GET"), 0);
}

TEST_F(AcquireTest, FileSourcesOfARepositoryAtAUrlAreFetchedThere) {
  offer(test::make_archive("zip", content));
  artifact().sources = {SampleBuild::file("runtime")};
  test::write_text(server.root() / "plugin.tar.gz", test::read_text(folder / "repository/plugin.tar.gz"));
  sample.manifest->repository = server.url("");
  EXPECT_EQ(code(), "ok");
}

TEST_F(AcquireTest, AsksForConsentBeforeTheFirstByte) {
  offer(test::make_archive("zip", content));
  sample.runtime().license = "vendor";
  sample.manifest->licenses["vendor"] = {
      "LicenseRef-Vendor", "https://vendor.example/", "", true, "no", {}, {}};
  std::vector<Question> questions;
  options.consent = [&](const Question& question) -> Result<void> {
    questions.push_back(question);
    return fail(diagnose(Code::forbidden_by_policy));
  };
  EXPECT_EQ(code(), "EH-P01");
  EXPECT_EQ(server.requests("GET"), 0);
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_TRUE(questions[0].download_known);
  EXPECT_GT(questions[0].download, bytes.size());
  ASSERT_EQ(questions[0].licenses.size(), 1u);
  EXPECT_EQ(questions[0].licenses[0].license.id, "LicenseRef-Vendor");
  artifact().size.reset();
  EXPECT_EQ(question_for(*sample.build, store, options)->download, questions[0].download)
      << "the server is asked";
  options.consent = [](const Question&) { return Result<void>(); };
  EXPECT_EQ(code(), "ok");
  options.consent = [](const Question&) -> Result<void> { return fail(diagnose(Code::forbidden_by_policy)); };
  EXPECT_EQ(code(), "ok") << "nothing is asked for what is installed";
}

TEST_F(AcquireTest, TheTimeOfAnAnswerIsNoTimeOfTheDownload) {
  offer(test::make_archive("zip", content));
  constexpr std::chrono::milliseconds reading{1500};
  options.consent = [&](const Question&) -> Result<void> {
    std::this_thread::sleep_for(reading);
    return {};
  };
  const auto began = std::chrono::steady_clock::now();
  const auto acquired = acquire(*sample.build, store, options);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  ASSERT_TRUE(acquired) << acquired.error().code;
  EXPECT_GT(acquired->seconds, 0);
  EXPECT_LT(acquired->seconds, passed.count() - 1.4);
}

TEST_F(AcquireTest, RefusesBeforeTheFirstByteWhenTheDiskIsTooSmall) {
  offer(test::make_archive("zip", content));
  artifact().size = std::uint64_t{1} << 60;
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-F15");
  EXPECT_FALSE(result.error().value(Key::needed).empty());
  EXPECT_EQ(server.requests("GET"), 0);
}

TEST_F(AcquireTest, EnforcesPinnedTreeDigests) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  const std::string tree = store.find(sample.build->id).value()->trees.at(1);
  ASSERT_TRUE(store.remove(sample.build->id));
  artifact().tree = tree;
  EXPECT_EQ(code(), "ok");
  ASSERT_TRUE(store.remove(sample.build->id));
  artifact().tree = std::string(64, '0');
  EXPECT_EQ(problem(), "EH-F21: it does not unpack to the tree that the manifest names");
}

}  // namespace
}  // namespace enginehost::acquire
