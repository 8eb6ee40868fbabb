// Zip archives of which only the selected files are fetched.
#include <sstream>

#include "host/acquire/acquire.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/partial_zip.hpp"
#include "host/acquire/pending.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "tests/acquire/acquire_fixture.hpp"
#include "tools/publish/partial_downloads.hpp"

namespace enginehost::acquire {
namespace {

constexpr std::size_t MiB = 1u << 20;

const std::vector<test::ArchiveEntry> entries{{"lib/libruntime.so.1",
                                               "\x7f"
                                               "ELF" +
                                                   test::noise(4 * MiB)},
                                              {"lib/libruntime.so", "", 0777, "libruntime.so.1"},
                                              {"share/words", test::noise(12 * MiB, 2)},
                                              {"lib/libmore.so.1",
                                               "\x7f"
                                               "ELF" +
                                                   test::noise(2 * MiB, 3)},
                                              {"share/small", "a gap that is fetched with its neighbors"},
                                              {"lib/data.txt", std::string(50'000, 'x')},
                                              {"share/more", test::noise(12 * MiB, 4)},
                                              {"bin/tool", "#!/bin/sh\n", 0755}};

class RangesTest : public AcquireTest {
 protected:
  // 6 of 30 MiB are selected, in three places.
  RangesTest() {
    options.transfer.smallest_part = MiB;
    static const std::string archive = test::make_archive("zip", entries);
    offer(archive);
    test::name_files(artifact(), entries, {"lib/*", "bin/tool"}, server.root() / "runtime");
  }
  void serve_from(const std::vector<std::string>& urls) {
    artifact().sources.clear();
    for (const std::string& url : urls) artifact().sources.push_back(SampleBuild::url(url));
  }
  static std::uint64_t bytes_sent(const test::NginxServer& by) {
    std::istringstream lines(by.log());
    std::uint64_t sum = 0;
    for (std::string method, path, status, rest; lines >> method >> path >> status;) {
      std::uint64_t size = 0;
      lines >> size;
      std::getline(lines, rest);
      sum += size;
    }
    return sum;
  }
  void expect_installed() {
    const auto problems = store.verify(sample.build->id, true);
    ASSERT_TRUE(problems) << problems.error().code;
    EXPECT_TRUE(problems->empty());
    EXPECT_EQ(installed_text("lib/libruntime.so.1"), entries[0].bytes);
    EXPECT_FALSE(fs::exists((*store.find(sample.build->id))->folder / "share"));
  }
  std::uint64_t selected() const {
    return size_of(sample.manifest->components.at("runtime").artifacts[0].ranges);
  }
  // The plugin comes from a folder.
  std::uint64_t plugin() const { return *sample.manifest->components.at("plugin").artifacts[0].size; }
};

TEST_F(RangesTest, FetchesTheSelectedBytesOnly) {
  ASSERT_EQ(artifact().ranges.size(), 3u);
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_TRUE(result->warnings.empty());
  expect_installed();
  EXPECT_EQ(fs::read_symlink(result->installed.folder / "lib/libruntime.so"), "libruntime.so.1");
  EXPECT_NE(fs::status(result->installed.folder / "bin/tool").permissions() & fs::perms::owner_exec,
            fs::perms::none);
  std::uint64_t exact = 0;
  for (const test::ArchiveEntry& entry : entries)
    if (!entry.path.starts_with("share/")) exact += entry.bytes.size();
  EXPECT_LE(bytes_sent(server), exact + exact / 20) << "nginx counted them";
  EXPECT_EQ(result->downloaded, selected() + plugin());
  EXPECT_EQ(server.requests("GET /runtime 206"), 3);
}

TEST_F(RangesTest, PlanQuestionAndProgressShowWhatComes) {
  EXPECT_EQ(pending_download(*sample.build, &store).bytes, selected() + plugin());
  std::optional<Question> question;
  options.consent = [&](const Question& asked) {
    question = asked;
    return Result<void>();
  };
  std::vector<transfer::Progress> seen;
  progress = [&](const transfer::Progress& now) { seen.push_back(now); };
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  ASSERT_TRUE(question);
  EXPECT_EQ(question->download, selected() + plugin());
  EXPECT_EQ(result->downloaded, selected() + plugin());
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back().done, selected() + plugin());
  std::uint64_t before = 0;
  for (const transfer::Progress& now : seen) {
    EXPECT_GE(now.done, before);
    EXPECT_EQ(now.total, selected() + plugin());
    before = now.done;
  }
}

TEST_F(RangesTest, AComponentWhoseFilesAreNotNamedComesWhole) {
  artifact().ranges.clear();
  artifact().files.clear();
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(result->downloaded, bytes.size() + plugin());
  expect_installed();
}

TEST_F(RangesTest, AServerWithoutRangesGivesTheWholeArchive) {
  const test::NginxServer whole_only("max_ranges 0;");
  test::write_text(whole_only.root() / "runtime", bytes);
  serve_from({whole_only.url("runtime")});
  std::vector<transfer::Progress> seen;
  progress = [&](const transfer::Progress& now) { seen.push_back(now); };
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_EQ(result->warnings[0].code, "EH-N02");
  EXPECT_EQ(result->warnings[0].value(Key::problem), SelectedRanges::sends_no_parts);
  EXPECT_EQ(seen.back().done, bytes.size() + plugin());
  EXPECT_EQ(seen.back().total, bytes.size() + plugin());
}

TEST_F(RangesTest, AMirrorWithRangesIsPreferredToTheWholeArchive) {
  const test::NginxServer whole_only("max_ranges 0;");
  test::write_text(whole_only.root() / "runtime", bytes);
  serve_from({whole_only.url("runtime"), "http://127.0.0.1:1/runtime", whole_only.url("missing"),
              server.url("runtime")});
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  EXPECT_LE(bytes_sent(server), selected() + selected() / 20);
  EXPECT_EQ(whole_only.requests("GET /missing"), 1);
}

TEST_F(RangesTest, SourcesThatCannotBeReachedAreAskedOnce) {
  serve_from({server.url("missing"), server.url("missing-too")});
  EXPECT_EQ(code(), "EH-N04");
  EXPECT_EQ(server.requests("GET /missing 404"), 1);
  EXPECT_EQ(server.requests("GET /missing-too 404"), 1);
  options.transfer.permit = [](std::string_view) {
    return fail(diagnose(Code::forbidden_by_policy).with(Key::key, "policy"));
  };
  EXPECT_EQ(code(), "EH-P01");
  options.transfer.offline = true;
  EXPECT_EQ(code(), "EH-N10");
  expect_nothing_visible();
}

TEST_F(RangesTest, OtherBytesOfTheSameLengthAreWrongBytes) {
  std::string other = bytes;
  for (std::size_t at = artifact().ranges[0].begin + 1000; at < artifact().ranges[0].end - 1000; at += 1000)
    other[at] ^= 1;
  test::write_text(server.root() / "runtime", other);
  EXPECT_EQ(code(), "EH-N08");
  expect_nothing_visible();
  EXPECT_TRUE(fs::is_empty(folder / "cache/partial"));
}

TEST_F(RangesTest, AFileOfAnotherLengthIsReportedBeforeItIsFetched) {
  test::write_text(server.root() / "runtime", bytes + "more");
  EXPECT_EQ(code(), "EH-N07");
  EXPECT_LT(bytes_sent(server), bytes.size() / 3);
  test::write_text(server.root() / "runtime", "<html><title>Sign in</title></html>");
  EXPECT_EQ(code(), "EH-N06");
  const test::NginxServer portal("location / { default_type text/html; return 200 '<html><title>Sign in'; }");
  serve_from({portal.url("runtime")});
  EXPECT_EQ(code(), "EH-N06");
  expect_nothing_visible();
}

TEST_F(RangesTest, RangesThatDoNotHoldTheFilesLeadToTheWholeArchive) {
  const auto right = artifact().ranges;
  for (const auto& wrong : std::vector<std::vector<transfer::Range>>{
           {{right[0].begin + 1, right[0].end}, right[1], right[2]},     // not at a header
           {right[0], {right[1].begin, right[1].end - 1000}, right[2]},  // cuts an entry
           {right[0], right[2]},                                         // leaves entries out
           {{right[0].begin, right[0].end + 100}, right[1], right[2]}}) {
    artifact().ranges = wrong;
    const auto result = get();
    ASSERT_TRUE(result) << result.error().code;
    expect_installed();
    ASSERT_EQ(result->warnings.size(), 1u);
    EXPECT_EQ(result->warnings[0].code, "EH-F21");
    ASSERT_TRUE(store.remove(sample.build->id));
    EXPECT_TRUE(fs::is_empty(folder / "cache/partial"));
  }
}

TEST_F(RangesTest, OtherFilesThanTheManifestsAreNeverVisible) {
  artifact().files[0].identity = std::string(64, 'a');
  cache::TreeList list{artifact().files};
  artifact().tree = list.id();
  EXPECT_EQ(code(), "EH-F21");
  expect_nothing_visible();
}

TEST_F(RangesTest, GoesOnAfterItWasCanceled) {
  const test::NginxServer slow("limit_rate 4m;");
  test::write_text(slow.root() / "runtime", bytes);
  serve_from({slow.url("runtime")});
  cancel = CancelToken();
  progress = [&](const transfer::Progress& now) {
    if (now.done > 3 * MiB) cancel->cancel();
  };
  EXPECT_EQ(code(), "EH-P10");
  expect_nothing_visible();
  cancel.reset();
  progress = {};
  serve_from({server.url("runtime")});
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  EXPECT_LT(result->downloaded, selected() - 2 * MiB);
}

TEST_F(RangesTest, BytesThatAllArrivedInAnEarlierRunNeedNoServer) {
  cancel = CancelToken();
  progress = [&](const transfer::Progress& now) {
    if (now.done == selected() + plugin()) cancel->cancel();
  };
  EXPECT_EQ(code(), "EH-P10");
  expect_nothing_visible();
  cancel.reset();
  progress = {};
  options.transfer.offline = true;
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  EXPECT_EQ(result->downloaded, 0u);
}

TEST_F(RangesTest, DamagedBytesOfAnEarlierRunAreFetchedAgain) {
  const test::NginxServer slow("limit_rate 4m;");
  test::write_text(slow.root() / "runtime", bytes);
  serve_from({slow.url("runtime")});
  cancel = CancelToken();
  progress = [&](const transfer::Progress& now) {
    if (now.done > 3 * MiB) cancel->cancel();
  };
  EXPECT_EQ(code(), "EH-P10");
  cancel.reset();
  progress = {};
  const fs::path left = fs::directory_iterator(folder / "cache/partial")->path();
  std::string text = test::read_text(left);
  text.replace(MiB, 1000, 1000, 'x');
  test::write_text(left, text);
  serve_from({server.url("runtime")});
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_TRUE(result->warnings.empty());
  expect_installed();
  EXPECT_LE(bytes_sent(server), 2 * selected());
}

// Answers a request for a range with at most `most` bytes of it.
void send_range(const std::string& bytes, const test::FaultServer::Request& request,
                test::FaultServer::Connection& to, std::size_t most = SIZE_MAX) {
  const std::uint64_t from = request.range_start.value_or(0);
  const std::string asked = request.header("range");
  const std::string last = asked.empty() ? "" : asked.substr(asked.find('-') + 1);
  const std::uint64_t end = last.empty() ? bytes.size() : std::stoull(last) + 1;
  to.send("HTTP/1.1 " + std::string(asked.empty() ? "200 OK" : "206 Partial") +
          "\r\nETag: \"v\"\r\nContent-Length: " + std::to_string(end - from) + "\r\nContent-Range: bytes " +
          std::to_string(from) + "-" + std::to_string(end - 1) + "/" + std::to_string(bytes.size()) +
          "\r\n\r\n");
  if (request.method != "HEAD") to.send(std::string_view(bytes).substr(from, std::min(end - from, most)));
}

TEST_F(RangesTest, AnswersThatEndEarlyAreContinued) {
  test::FaultServer cutting([&](const auto& request, auto& to) { send_range(bytes, request, to, 700'000); });
  serve_from({cutting.url("runtime")});
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  EXPECT_EQ(result->downloaded, selected() + plugin());
}

TEST_F(RangesTest, ARegistrySendsRangesToo) {
  test::write_text(server.root() / ("v2/engines/sample/blobs/sha256:" + artifact().sha256), bytes);
  serve_from({"127.0.0.1:" + std::to_string(server.port()) + "/engines/sample"});
  artifact().sources[0].kind = manifest::Source::Kind::oci;
  EXPECT_EQ(pending_download(*sample.build, &store).bytes, selected() + plugin());
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  expect_installed();
  EXPECT_EQ(result->downloaded, selected() + plugin());
  EXPECT_EQ(server.requests("GET /v2/engines/sample/blobs"), 3);
}

TEST_F(RangesTest, ARegistrysExpiredTokenIsReplaced) {
  int fetches = 0;
  test::FaultServer registry([&](const auto& request, auto& to) {
    if (request.method == "GET" && ++fetches == 2)
      to.answer("401 Unauthorized", "{}");
    else
      send_range(bytes, request, to);
  });
  serve_from({"127.0.0.1:" + std::to_string(registry.port()) + "/engines/sample"});
  artifact().sources[0].kind = manifest::Source::Kind::oci;
  for (const bool whole : {false, true}) {
    fetches = 0;
    if (whole) artifact().ranges.clear();
    const auto result = get();
    ASSERT_TRUE(result) << result.error().code;
    expect_installed();
    ASSERT_TRUE(store.remove(sample.build->id));
  }
}

TEST_F(RangesTest, AWholeArchiveThatAlmostArrivedIsUsed) {
  ASSERT_TRUE(store.prepare());
  test::write_text(store.partial(artifact().sha256), bytes.substr(0, bytes.size() - MiB));
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_LT(result->downloaded, MiB + plugin() + 1000);
  expect_installed();
}

TEST_F(RangesTest, ARecordedBuildIsFetchedAgainByRanges) {
  const auto first = get();
  ASSERT_TRUE(first);
  const auto document = parse_json(first->installed.manifest, "kept");
  ASSERT_TRUE(document);
  const auto again = manifest::read_manifest(*document, "", "kept");
  ASSERT_TRUE(again) << again.error().value(Key::member) << " " << again.error().value(Key::problem);
  EXPECT_TRUE((*again)->warnings.empty());
  ASSERT_TRUE(store.remove(sample.build->id));
  const auto second = acquire(*(*again)->builds[0], store, options);
  ASSERT_TRUE(second) << second.error().code;
  EXPECT_EQ(second->downloaded, first->downloaded);
}

TEST_F(RangesTest, ABuildThatCameByRangesIsRepaired) {
  const auto installed = get();
  ASSERT_TRUE(installed);
  ASSERT_TRUE(fs::remove(store.root() / "trees" / artifact().tree / "lib/data.txt"));
  fs::remove(installed->installed.folder / "lib/data.txt");
  const std::uint64_t before = bytes_sent(server);
  const auto repaired = repair(sample.build->id, sample.build.get(), store, options, cancel);
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  expect_installed();
  EXPECT_LT(bytes_sent(server) - before, MiB);
}

TEST_F(RangesTest, RangesMustSaveAMebibyteForEachRequest) {
  const auto ranges_without = [&](std::size_t unselected) {
    offer(test::make_archive("zip", {{"lib/a.so", test::noise(MiB)},
                                     {"share/a", test::noise(unselected, 2)},
                                     {"lib/b.so", test::noise(MiB, 3)}}));
    artifact().select = {"lib/*"};
    test::write_text(folder / "archive.zip", bytes);
    const auto ranges = publish::ranges_to_fetch(folder / "archive.zip", artifact(),
                                                 {{{}, MiB, "lib/a.so", ""}, {{}, MiB, "lib/b.so", ""}});
    EXPECT_TRUE(ranges);
    return ranges ? *ranges : std::vector<transfer::Range>();
  };
  EXPECT_EQ(ranges_without(3 * MiB).size(), 2u);
  EXPECT_TRUE(ranges_without(3 * MiB / 2).empty()) << "two requests for a mebibyte and a half";
  EXPECT_TRUE(ranges_without(20'000).empty()) << "the gap is joined, and nothing is saved";
}

TEST_F(RangesTest, AnArchiveWithoutADirectoryHasNoRanges) {
  test::write_text(folder / "archive.zip", bytes.substr(0, bytes.size() - 10));
  artifact().size = bytes.size() - 10;
  const auto ranges = publish::ranges_to_fetch(folder / "archive.zip", artifact(), artifact().files);
  ASSERT_FALSE(ranges);
  EXPECT_EQ(ranges.error().code, "EH-F21");
}

}  // namespace
}  // namespace enginehost::acquire
