#include "host/acquire/acquire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <clocale>

#include "base/text.hpp"
#include "host/manifest/catalogue.hpp"
#include "tests/acquire/sample_build.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::SampleBuild;
using testing::HasSubstr;

class AcquireTest : public testing::Test {
 protected:
  AcquireTest() {
    test::give_plugin(sample, folder / "repository");
    options.transfer.first_backoff = 5ms;
    options.transfer.stall_limit = 400ms;
    options.transfer.retries = 2;
  }
  // Serves the runtime's archive and asks for it there.
  void offer(const std::string& archive, const std::string& kind = "zip") {
    bytes = archive;
    test::write_text(server.root() / "runtime", archive);
    sample.runtime().artifacts = {
        SampleBuild::artifact(archive, kind, {SampleBuild::url(server.url("runtime"))})};
  }
  manifest::Artifact& artifact() { return sample.runtime().artifacts.at(0); }
  Result<Acquired> get() { return acquire(*sample.build, store, options, progress, cancel); }
  std::string code() {
    const auto result = get();
    return result ? "ok" : result.error().code;
  }
  std::string problem() {
    const auto result = get();
    return result ? "ok" : result.error().code + ": " + std::string(result.error().value("problem"));
  }
  std::string installed_text(const std::string& path) {
    const auto found = store.find(sample.build->id);
    return found && *found ? test::read_text((*found)->folder / path) : "";
  }
  void expect_nothing_visible() {
    EXPECT_FALSE(fs::exists(folder / "cache/views") && !fs::is_empty(folder / "cache/views"));
    EXPECT_TRUE(store.list().empty());
    const fs::path stage = folder / "cache/stage";
    for (const auto& key : fs::directory_iterator(stage)) EXPECT_TRUE(fs::is_empty(key.path())) << key.path();
  }

  test::TemporaryFolder folder;
  test::NginxServer server;
  SampleBuild sample;
  cache::Store store = cache::Store::open(folder / "cache", {}, "acquire_test");
  AcquireOptions options;
  transfer::ProgressCallback progress;
  std::optional<CancelToken> cancel;
  std::string bytes;
  const std::vector<test::ArchiveEntry> content{{"lib/libruntime.so.1",
                                                 "\x7f"
                                                 "ELF " +
                                                     test::noise(200'000)},
                                                {"lib/data.txt", std::string(50'000, 'x')},
                                                {"bin/tool", "#!/bin/sh\n", 0755}};
};

TEST_F(AcquireTest, InstallsEveryKindOfArchive) {
  for (const char* kind : {"zip", "tar", "tar.gz", "tar.xz", "tar.zst"}) {
    offer(test::make_archive(kind, content), kind);
    const auto result = get();
    ASSERT_TRUE(result) << kind << " " << result.error().code << " " << result.error().value("problem");
    EXPECT_EQ(installed_text("lib/libruntime.so.1"), content[0].bytes) << kind;
    EXPECT_EQ(installed_text("lib/data.txt"), content[1].bytes) << kind;
    struct stat status {};
    ASSERT_EQ(::stat((result->installed.folder / "bin/tool").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0555u) << kind;
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

TEST_F(AcquireTest, DropsLeadingPartsAndTakesWhatIsSelected) {
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

TEST_F(AcquireTest, GoesOnToTheNextSourceAndReportsTheFirst) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "wrong", std::string(bytes.size(), 'x'));
  artifact().sources = {SampleBuild::url(server.url("missing")), SampleBuild::url(server.url("wrong")),
                        SampleBuild::url(server.url("runtime"))};
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  ASSERT_EQ(result->warnings.size(), 2u);
  EXPECT_EQ(result->warnings[0].code, "EH-N04");
  EXPECT_EQ(result->warnings[1].code, "EH-N08");
  EXPECT_EQ(result->warnings[1].value("expected_sha256"), artifact().sha256);
  EXPECT_THAT(result->sources, testing::Contains(server.url("runtime")));
}

TEST_F(AcquireTest, NamesEverySourceWhenAllFail) {
  offer(test::make_archive("zip", content));
  test::write_text(server.root() / "wrong", std::string(bytes.size(), 'x'));
  artifact().sources = {SampleBuild::url(server.url("wrong")), SampleBuild::url(server.url("missing"))};
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-N04") << "not every source gave wrong bytes";
  EXPECT_EQ(result.error().values("source_tried").size(), 2u);
  EXPECT_EQ(result.error().value("component"), "runtime");
  expect_nothing_visible();
}

TEST_F(AcquireTest, WrongBytesFromEverySourceAreToldAsSuch) {
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
  EXPECT_EQ(with_size.error().value("title"), "Please sign in");
  artifact().size.reset();
  const auto without_size = get();
  ASSERT_FALSE(without_size);
  EXPECT_EQ(without_size.error().code, "EH-N06");
  EXPECT_EQ(without_size.error().value("title"), "Please sign in");
}

TEST_F(AcquireTest, BringsAnArtifactOfUnknownSize) {
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

TEST_F(AcquireTest, RefusesZipArchivesThatSayTwoThings) {
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

TEST_F(AcquireTest, TellsABrokenArchiveFromWrongBytes) {
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

TEST_F(AcquireTest, MendsWhatIsDamaged) {
  offer(test::make_archive("zip", content));
  ASSERT_EQ(code(), "ok");
  const fs::path file = store.find(sample.build->id).value()->folder / "lib/libruntime.so.1";
  ::chmod(file.c_str(), 0644);
  test::write_text(file, "cut");
  const auto mended = get();
  ASSERT_TRUE(mended) << mended.error().code;
  EXPECT_TRUE(mended->repaired);
  ASSERT_FALSE(mended->warnings.empty());
  EXPECT_EQ(mended->warnings[0].code, "EH-F04");
  EXPECT_EQ(test::read_text(file), content[0].bytes);
  fs::remove(file);
  EXPECT_EQ(code(), "ok");
  EXPECT_EQ(server.requests("GET"), 2) << "a file that is only gone from the view comes from its tree";
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

TEST_F(AcquireTest, AsksBeforeTheFirstByteWithSizeAndLicence) {
  offer(test::make_archive("zip", content));
  sample.runtime().license = "vendor";
  sample.manifest->licenses["vendor"] = {"LicenseRef-Vendor", "https://vendor.example/", "", true, "no"};
  std::vector<Question> questions;
  options.consent = [&](const Question& question) -> Result<void> {
    questions.push_back(question);
    return fail(diagnose("EH-P01"));
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
  options.consent = [](const Question&) -> Result<void> { return fail(diagnose("EH-P01")); };
  EXPECT_EQ(code(), "ok") << "nothing is asked for what is installed";
}

TEST_F(AcquireTest, RefusesBeforeTheFirstByteWhenTheDiskIsTooSmall) {
  offer(test::make_archive("zip", content));
  artifact().size = std::uint64_t{1} << 60;
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-F15");
  EXPECT_FALSE(result.error().value("needed").empty());
  EXPECT_EQ(server.requests("GET"), 0);
}

TEST_F(AcquireTest, PinnedTreesAreHeldTo) {
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

TEST_F(AcquireTest, GoesOnAfterACutConnectionInOnePass) {
  const std::string archive = test::make_archive("tar.gz", {{"lib/a.so", test::noise(2'000'000)}});
  offer(archive, "tar.gz");
  test::FaultServer cutting(
      [&](const test::FaultServer::Request& request, test::FaultServer::Connection& to) {
        const std::uint64_t from = request.range_start.value_or(0);
        to.send("HTTP/1.1 " + std::string(from > 0 ? "206 Partial" : "200 OK") +
                "\r\nETag: \"v\"\r\nContent-Length: " + std::to_string(archive.size() - from) +
                "\r\nContent-Range: bytes " + std::to_string(from) + "-" +
                std::to_string(archive.size() - 1) + "/" + std::to_string(archive.size()) + "\r\n\r\n");
        to.send(std::string_view(archive).substr(from, 700'000));
      });
  artifact().sources = {SampleBuild::url(cutting.url("runtime"))};
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_LT(result->downloaded, archive.size() + 1000);
}

TEST_F(AcquireTest, BeginsUnpackingAnewWhenTheServerBeginsAnew) {
  const std::string archive = test::make_archive("tar.gz", {{"lib/a.so", test::noise(2'000'000)}});
  offer(archive, "tar.gz");
  test::FaultServer cutting(
      [&](const test::FaultServer::Request& request, test::FaultServer::Connection& to) {
        to.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(archive.size()) + "\r\n\r\n");
        to.send(std::string_view(archive).substr(0, request.number == 1 ? 1'500'000 : archive.size()));
      });
  artifact().sources = {SampleBuild::url(cutting.url("runtime"))};
  ASSERT_EQ(problem(), "ok");
  EXPECT_EQ(installed_text("lib/a.so"), test::noise(2'000'000));
}

TEST_F(AcquireTest, ResumesWhatAnEarlierRunLeftAndDistrustsIt) {
  offer(test::make_archive("zip", content));
  ASSERT_TRUE(store.prepare());
  test::write_text(store.partial(artifact().sha256), bytes.substr(0, 100'000));
  const auto resumed = get();
  ASSERT_TRUE(resumed);
  EXPECT_LT(resumed->downloaded, bytes.size() - 99'000);
  ASSERT_TRUE(store.remove(sample.build->id));
  test::write_text(store.partial(artifact().sha256), std::string(100'000, 'x'));
  const auto anew = get();
  ASSERT_TRUE(anew) << anew.error().code;
  EXPECT_TRUE(store.verify(sample.build->id, true)->empty());
}

TEST_F(AcquireTest, IsCancelledWithoutLeavingAnything) {
  test::NginxServer slow("limit_rate 100k;");
  offer(test::make_archive("zip", content));
  test::write_text(slow.root() / "runtime", bytes);
  artifact().sources = {SampleBuild::url(slow.url("runtime"))};
  cancel = CancelToken();
  progress = [&](const transfer::Progress& now) {
    if (now.done > 20'000) cancel->cancel();
  };
  EXPECT_EQ(code(), "EH-P10");
  expect_nothing_visible();
  cancel.reset();
  artifact().sources = {SampleBuild::url(server.url("runtime"))};
  EXPECT_EQ(code(), "ok");
}

TEST_F(AcquireTest, ProgressCountsAllComponentsAndNeverGoesBack) {
  offer(test::make_archive("zip", content));
  std::vector<transfer::Progress> seen;
  progress = [&](const transfer::Progress& now) { seen.push_back(now); };
  ASSERT_EQ(code(), "ok");
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(
      std::is_sorted(seen.begin(), seen.end(), [](const auto& a, const auto& b) { return a.done < b.done; }));
  EXPECT_EQ(seen.back().phase, transfer::Progress::Phase::done);
  EXPECT_EQ(seen.back().done, seen.back().total);
}

TEST_F(AcquireTest, SaysThatTheArchiveLacksThePlugin) {
  offer(test::make_archive("zip", content));
  sample.build->plugin_path = "libengine_other.so";
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-F01");
  EXPECT_THAT(std::string(result.error().value("file")), HasSubstr("libengine_other.so"));
}

TEST_F(AcquireTest, TheKeptManifestIsReadBackAsTheSameBuild) {
  offer(test::make_archive("zip", content));
  sample.build->requires_.glibc = ">=2.17";
  sample.build->requires_.cuda = manifest::CudaRequirement{"11.8", {"8.6"}, {}};
  sample.build->options = {{"threads", "4"}};
  const auto result = get();
  ASSERT_TRUE(result);
  const auto document = parse_json(result->installed.manifest, "kept");
  ASSERT_TRUE(document);
  const auto again = manifest::read_manifest(*document, "", "kept");
  ASSERT_TRUE(again) << again.error().code << " " << again.error().value("member") << " "
                     << again.error().value("problem");
  ASSERT_EQ((*again)->builds.size(), 1u);
  const manifest::Build& build = *(*again)->builds[0];
  EXPECT_EQ(build.id, sample.build->id);
  EXPECT_EQ(build.requires_.cuda->sass, std::vector<std::string>{"8.6"});
  EXPECT_EQ(build.options, sample.build->options);
  EXPECT_EQ(build.artifacts_digest(), sample.build->artifacts_digest());
  EXPECT_TRUE((*again)->warnings.empty()) << (*again)->warnings[0];
}

}  // namespace
}  // namespace enginehost::acquire
