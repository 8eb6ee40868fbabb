#include "tests/acquire/acquire_fixture.hpp"

namespace enginehost::acquire {
namespace {

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

TEST_F(AcquireTest, RestartsUnpackingWhenTheServerRestarts) {
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

TEST_F(AcquireTest, ResumesAndVerifiesBytesOfAnEarlierRun) {
  offer(test::make_archive("zip", content));
  ASSERT_TRUE(store.prepare());
  test::write_text(store.partial(artifact().sha256), bytes.substr(0, 100'000));
  const auto resumed = get();
  ASSERT_TRUE(resumed);
  EXPECT_LT(resumed->downloaded, bytes.size() - 99'000);
  ASSERT_TRUE(store.remove(sample.build->id));
  test::write_text(store.partial(artifact().sha256), std::string(100'000, 'x'));
  const auto again = get();
  ASSERT_TRUE(again) << again.error().code;
  EXPECT_TRUE(store.verify(sample.build->id, true)->empty());
}

TEST_F(AcquireTest, ReportsAWrongSizeWhateverIsHeld) {
  offer(test::make_archive("zip", content));
  ASSERT_TRUE(store.prepare());
  artifact().size = 0;
  EXPECT_EQ(code(), "EH-N08");
  for (const char* held : {"", "x"}) {
    artifact().size = 100'000;
    test::write_text(store.partial(artifact().sha256), *held ? bytes.substr(0, 100'000) : "");
    EXPECT_EQ(code(), "EH-N07");
  }
  expect_nothing_visible();
}

TEST_F(AcquireTest, IsCanceledWithoutLeavingAnything) {
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
  progress = {};
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

TEST_F(AcquireTest, ReportsAnArchiveWithoutThePlugin) {
  offer(test::make_archive("zip", content));
  sample.build->plugin_path = "libengine_other.so";
  const auto result = get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "EH-F01");
  EXPECT_THAT(std::string(result.error().value(Key::file)), HasSubstr("libengine_other.so"));
  EXPECT_EQ(result.error().value(Key::found_at), "");
  sample.build->plugin_path = "engine-1.0/libengine_sample.so";
  const auto in_folder = get();
  ASSERT_FALSE(in_folder);
  EXPECT_EQ(in_folder.error().value(Key::found_at), "libengine_sample.so");
}

TEST_F(AcquireTest, ReadsTheKeptManifestBackAsTheSameBuild) {
  offer(test::make_archive("zip", content));
  sample.build->requires_.glibc = ">=2.17";
  sample.build->requires_.cuda = manifest::CudaRequirement{"11.8", {"8.6"}, {}, {}};
  sample.build->options = {{"threads", "4"}};
  const auto result = get();
  ASSERT_TRUE(result);
  const auto document = parse_json(result->installed.manifest, "kept");
  ASSERT_TRUE(document);
  const auto again = manifest::read_manifest(*document, "", "kept");
  ASSERT_TRUE(again) << again.error().code << " " << again.error().value(Key::member) << " "
                     << again.error().value(Key::problem);
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
