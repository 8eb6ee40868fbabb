// Downloads whose manifest names a list of chunks.
#include "host/transfer/chunk_list.hpp"

#include "host/acquire/growing_file.hpp"
#include "tests/acquire/acquire_fixture.hpp"
#include "tests/support/holes.hpp"
#include "tools/publish/partial_downloads.hpp"

namespace enginehost::acquire {
namespace {

using FaultServer = test::FaultServer;

class ChunkTest : public AcquireTest {
 protected:
  static constexpr std::uint64_t chunk = 256u << 10;
  ChunkTest() {
    options.transfer.smallest_part = 1u << 20;
    options.transfer.rate_window = 60ms;
    options.transfer.patience = 300ms;
    offer(test::make_archive("tar", {{"lib/libruntime.so.1", test::noise(6'000'000)}}), "tar");
    test::write_text(folder / "runtime.whole", bytes);
    list = publish::chunk_list_of(folder / "runtime.whole", chunk).value();
    test::write_text(server.root() / "runtime.chunks", list.text());
    artifact().chunks_sha256 = sha256_hex(list.text());
    artifact().chunks_sources = {SampleBuild::url(server.url("runtime.chunks"))};
  }
  fs::path partial() const { return folder / "cache/partial" / sha256_hex(bytes); }
  std::string wrong_from(std::size_t at) const {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(wrong[at] ^ 1);
    return wrong;
  }
  transfer::ChunkList list;
};

TEST_F(ChunkTest, FetchesChunksAndInstallsTheSameFiles) {
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
  EXPECT_TRUE(result->warnings.empty());
  EXPECT_EQ(server.requests("GET /runtime.chunks"), 1);
}

TEST_F(ChunkTest, AWrongChunkComesFromAnotherMirrorAndTheFirstIsDropped) {
  test::NginxServer wrong;
  test::write_text(wrong.root() / "runtime", wrong_from(3'000'000));
  artifact().sources.insert(artifact().sources.begin(), SampleBuild::url(wrong.url("runtime")));
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_EQ(result->warnings[0].code, "EH-N08");
  EXPECT_EQ(result->warnings[0].value(Key::position), std::to_string(3'000'000 / chunk * chunk));
  EXPECT_EQ(wrong.requests("GET /runtime"), 1) << "it is not asked again";
  EXPECT_LE(result->downloaded, bytes.size() + 2 * chunk + 10'000) << "what was right is not sent again";
}

TEST_F(ChunkTest, WrongBytesFromEveryMirrorAreNeverUnpacked) {
  test::write_text(server.root() / "runtime", wrong_from(10));
  EXPECT_EQ(code(), "EH-N08");
  expect_nothing_visible();
}

TEST_F(ChunkTest, VerifiesChunksAlreadyOnDisk) {
  // An earlier run left a whole file with one wrong byte, and another with a hole.
  fs::create_directories(folder / "cache/partial");
  test::write_text(partial(), wrong_from(3'000'000));
  auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_LE(result->downloaded, chunk + 10'000) << "one chunk and the plugin";
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));

  ASSERT_TRUE(store.remove(sample.build->id));
  test::write_text(partial(), bytes);
  if (!test::punch_hole(partial(), 1u << 20, 1u << 20)) GTEST_SKIP() << "no holes here";
  result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_LE(result->downloaded, 6 * chunk + 10'000);
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
}

TEST_F(ChunkTest, AServerOfWholeFilesServesAndVerifiedChunksStay) {
  test::NginxServer whole("max_ranges 0;");
  test::write_text(whole.root() / "runtime", bytes);
  artifact().sources = {SampleBuild::url(whole.url("runtime"))};
  fs::create_directories(folder / "cache/partial");
  test::write_text(partial(), bytes.substr(0, 2'000'000));
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
}

TEST_F(ChunkTest, AWrongOrMissingListIsReportedAndTheFileDigestServes) {
  test::write_text(server.root() / "runtime.chunks", list.text() + "x");
  auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_EQ(result->warnings[0].code, "EH-N08");
  ASSERT_TRUE(store.remove(sample.build->id));
  fs::remove(server.root() / "runtime.chunks");
  result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(result->warnings.at(0).code, "EH-N04");
}

TEST_F(ChunkTest, AListOutsideOfTheRepositoryIsSkippedAndReported) {
  test::write_text(folder / "outside.chunks", list.text());
  const manifest::Source outside = SampleBuild::file("../outside.chunks"),
                         missing = SampleBuild::url(server.url("missing.chunks")),
                         good = SampleBuild::url(server.url("runtime.chunks"));
  const auto warnings_with = [&](std::vector<manifest::Source> sources) {
    artifact().chunks_sources = std::move(sources);
    const auto result = get();
    EXPECT_TRUE(result);
    std::vector<std::string> codes;
    for (const Diagnosis& warning : result->warnings) codes.push_back(std::string(warning.code_text()));
    EXPECT_TRUE(store.remove(sample.build->id));
    return codes;
  };
  EXPECT_THAT(warnings_with({outside}), testing::ElementsAre("EH-N14"));
  EXPECT_THAT(warnings_with({outside, good}), testing::IsEmpty());
  EXPECT_THAT(warnings_with({missing, outside}), testing::ElementsAre("EH-N14"));
  EXPECT_THAT(warnings_with({outside, missing}), testing::ElementsAre("EH-N04"));
}

TEST_F(ChunkTest, IgnoresAListOfAnotherFile) {
  transfer::ChunkList other = list;
  other.size -= 1;
  test::write_text(server.root() / "runtime.chunks", other.text());
  artifact().chunks_sha256 = sha256_hex(other.text());
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(result->warnings.at(0).code, "EH-M02");
}

TEST_F(ChunkTest, SeveralCappedConnectionsFetchEveryChunkOnce) {
  test::NginxServer capped("limit_rate 3m;");
  test::write_text(capped.root() / "runtime", bytes);
  artifact().sources = {SampleBuild::url(capped.url("runtime"))};
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
  EXPECT_GE(capped.requests("GET /runtime"), 2);
}

// Without a list of chunks and without a note: the digest shows that the bytes are not those.
TEST_F(AcquireTest, RefetchesAPartialFileWithUnrecordedHoles) {
  offer(test::make_archive("tar", {{"lib/libruntime.so.1", test::noise(3'000'000)}}), "tar");
  const fs::path partial = folder / "cache/partial" / sha256_hex(bytes);
  fs::create_directories(partial.parent_path());
  test::write_text(partial, bytes);
  if (!test::punch_hole(partial, 1u << 20, 1u << 20)) GTEST_SKIP() << "no holes here";
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(3'000'000));
  EXPECT_GE(result->downloaded, bytes.size());
}

TEST_F(AcquireTest, ResumesAPartialFileFromTheBytesItRecorded) {
  offer(test::make_archive("tar", {{"lib/libruntime.so.1", test::noise(6'000'000)}}), "tar");
  const fs::path partial = folder / "cache/partial" / sha256_hex(bytes);
  fs::create_directories(partial.parent_path());
  const auto open_partial = [&] { return GrowingFile::open(partial, folder / "cache", bytes.size()); };
  const auto put = [&](GrowingFile& file, std::uint64_t from, std::uint64_t size) {
    ASSERT_TRUE(file.write_at(from, std::string_view(bytes).substr(from, size)));
  };
  {
    const auto file = open_partial();
    ASSERT_TRUE(file);
    put(**file, 1'000'001, 1'000'000);
    put(**file, 3'000'000, 2'000'000);
  }
  using transfer::Range;
  EXPECT_EQ(open_partial().value()->missing(),
            (std::vector<Range>{{0, 1'000'001}, {2'000'001, 3'000'000}, {5'000'000, bytes.size()}}));
  auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_LT(result->downloaded, bytes.size() - 2'900'000);
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));

  // A note that is torn, of another size, or of bytes that a power cut lost is detected.
  for (const int damage : {0, 1, 2}) {
    ASSERT_TRUE(store.remove(sample.build->id));
    {
      const auto file = open_partial();
      ASSERT_TRUE(file);
      put(**file, 1'000'001, 1'000'000);
    }
    std::string held = test::read_text(partial);
    ASSERT_GT(held.size(), bytes.size());
    if (damage == 0) held[held.size() - 100] = 'x';
    if (damage == 1) held.resize(held.size() - 1);
    if (damage == 2) held.replace(1'500'000, 4096, std::string(4096, '\0'));
    test::write_text(partial, held);
    result = get();
    ASSERT_TRUE(result) << damage << " " << result.error().code;
    EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(6'000'000));
    EXPECT_TRUE(result->warnings.empty()) << damage << ": the source was not to blame";
  }
}

TEST_F(AcquireTest, RetriesMirrorsAloneWhenTheirMixIsWrong) {
  options.transfer.smallest_part = 1u << 20;
  options.transfer.rate_window = 60ms;
  offer(test::make_archive("tar", {{"lib/libruntime.so.1", test::noise(8'000'000)}}), "tar");
  test::NginxServer wrong("limit_rate 4m;"), right("limit_rate 4m;");
  std::string flipped = bytes;
  flipped[100] = static_cast<char>(flipped[100] ^ 1);
  flipped[7'999'000] = static_cast<char>(flipped[7'999'000] ^ 1);
  test::write_text(wrong.root() / "runtime", flipped);
  test::write_text(right.root() / "runtime", bytes);
  artifact().sources = {SampleBuild::url(wrong.url("runtime")), SampleBuild::url(right.url("runtime"))};
  const auto result = get();
  ASSERT_TRUE(result) << result.error().code;
  EXPECT_EQ(installed_text("lib/libruntime.so.1"), test::noise(8'000'000));
  ASSERT_EQ(result->warnings.size(), 1u);
  EXPECT_EQ(result->warnings[0].code, "EH-N08");
  EXPECT_THAT(std::string(result->warnings[0].value(Key::url)), HasSubstr(std::to_string(wrong.port())));
}

}  // namespace
}  // namespace enginehost::acquire
