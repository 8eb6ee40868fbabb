// Components whose source is a package index.
#include "tests/acquire/acquire_fixture.hpp"

namespace enginehost::acquire {
namespace {

class PackageSourceTest : public AcquireTest {
 protected:
  const std::string wheel = "runtime-1.0-py3-none-any.whl";

  // Names the index as the only source. Its page is below `root`, and the wheel beside it.
  void offer_on_index(const fs::path& root, const std::string& archive) {
    manifest::Source source;
    source.kind = manifest::Source::Kind::package_index;
    source.project = "Runtime";
    source.file = wheel;
    sample.runtime().artifacts = {SampleBuild::artifact(archive, "zip", {source})};
    test::write_text(root / ("files/" + wheel), archive);
    test::write_text(root / "simple/runtime/index.html", "<a href=\"../../files/" + wheel + "#sha256=" +
                                                             sha256_hex(archive) + "\">" + wheel + "</a>");
  }
};

TEST_F(PackageSourceTest, InstallsFromAnIndexInAFolder) {
  offer_on_index(folder.path(), test::make_archive("zip", content));
  options.transfer.package_index = path_text(folder / "simple");
  const auto acquired = get();
  ASSERT_TRUE(acquired) << acquired.error().code;
  EXPECT_EQ(installed_text("lib/data.txt"), std::string(50'000, 'x'));
}

TEST_F(PackageSourceTest, SendsCredentialsAndRecordsNone) {
  const test::NginxServer guarded("if ($http_authorization != \"Basic dXNlcjpwYXNz\") { return 401; }");
  offer_on_index(guarded.root(), test::make_archive("zip", content));
  options.transfer.package_index = guarded.url("simple");
  const auto refused = get();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-N04");
  EXPECT_EQ(refused.error().value(Key::status), "401");
  options.transfer.package_index = "http://user:pass@" + guarded.url("simple").substr(7);
  const auto acquired = get();
  ASSERT_TRUE(acquired) << acquired.error().code;
  EXPECT_THAT(acquired->sources, testing::Contains(guarded.url("files/" + wheel)));
  for (const auto& entry : fs::recursive_directory_iterator(folder / "cache"))
    if (entry.is_regular_file())
      EXPECT_EQ(test::read_text(entry.path()).find("user:pass"), std::string::npos) << entry;
}

TEST_F(PackageSourceTest, ASlowFileComesOverSeveralConnections) {
  const test::NginxServer slow("limit_rate 4m;");
  offer_on_index(slow.root(), test::make_archive("zip", {{"lib/data.bin", test::noise(20'000'000)}}));
  options.transfer.package_index = slow.url("simple");
  options.transfer.smallest_part = 1u << 20;
  options.transfer.rate_window = 150ms;
  options.transfer.stall_limit = 5s;
  ASSERT_EQ(code(), "ok");
  EXPECT_GT(slow.requests("GET /files/"), 1);
}

// Every kind of source is asked for parts of one file, the first of them first.
TEST_F(PackageSourceTest, AnIndexARegistryAndAUrlServeOneFileTogether) {
  const std::string archive = test::make_archive("zip", {{"lib/data.bin", test::noise(24'000'000)}});
  const test::NginxServer index("limit_rate 2m;"), registry("limit_rate 2m;"), url("limit_rate 2m;");
  offer_on_index(index.root(), archive);
  auto& sources = sample.runtime().artifacts[0].sources;
  manifest::Source image;
  image.kind = manifest::Source::Kind::oci;
  image.location = "127.0.0.1:" + std::to_string(registry.port()) + "/engines/sample";
  test::write_text(registry.root() / ("v2/engines/sample/blobs/sha256:" + sha256_hex(archive)), archive);
  manifest::Source direct;
  direct.kind = manifest::Source::Kind::url;
  direct.location = url.url("runtime.zip");
  test::write_text(url.root() / "runtime.zip", archive);
  const manifest::Source on_index = sources.front();
  options.transfer.package_index = index.url("simple");
  options.transfer.plain_http_registries = {"127.0.0.1:" + std::to_string(registry.port())};
  options.transfer.smallest_part = 1u << 20;
  options.transfer.rate_window = 150ms;
  options.transfer.stall_limit = 5s;
  for (const auto& order : {std::vector{on_index, image, direct}, std::vector{image, direct, on_index}}) {
    sources = order;
    const int before[] = {index.requests("GET /files/"), registry.requests("GET /v2/engines/sample/blobs"),
                          url.requests("GET /runtime.zip")};
    ASSERT_EQ(code(), "ok");
    EXPECT_GT(index.requests("GET /files/"), before[0]);
    EXPECT_GT(registry.requests("GET /v2/engines/sample/blobs"), before[1]);
    EXPECT_GT(url.requests("GET /runtime.zip"), before[2]);
    ASSERT_TRUE(store.remove(sample.build->id));
  }
}

// However slow it is: it is there to spare the registry.
TEST_F(PackageSourceTest, AConfiguredMirrorServesAloneBeforeItsRegistry) {
  const std::string archive = test::make_archive("zip", {{"lib/data.bin", test::noise(12'000'000)}});
  const test::NginxServer mirror("limit_rate 2m;"), registry;
  const auto host_of = [](const test::NginxServer& server) {
    return "127.0.0.1:" + std::to_string(server.port());
  };
  for (const test::NginxServer* server : {&mirror, &registry})
    test::write_text(server->root() / ("v2/engines/sample/blobs/sha256:" + sha256_hex(archive)), archive);
  manifest::Source image;
  image.kind = manifest::Source::Kind::oci;
  image.location = host_of(registry) + "/engines/sample";
  sample.runtime().artifacts = {SampleBuild::artifact(archive, "zip", {image})};
  options.transfer.plain_http_registries = {host_of(registry), host_of(mirror)};
  options.transfer.registry_mirrors = {host_of(registry) + "=" + host_of(mirror)};
  options.transfer.smallest_part = 1u << 20;
  options.transfer.rate_window = 150ms;
  options.transfer.patience = 300ms;
  options.transfer.stall_limit = 5s;
  ASSERT_EQ(code(), "ok");
  EXPECT_GT(mirror.requests("GET /v2/engines/sample/blobs"), 1) << "in parts";
  EXPECT_EQ(registry.requests("GET") + registry.requests("HEAD"), 0);
}

TEST_F(PackageSourceTest, ASilentIndexLeavesTheFileToTheNextSource) {
  const std::string archive = test::make_archive("zip", content);
  test::FaultServer silent([](const auto&, auto& connection) { connection.stall(20s); });
  const test::NginxServer url;
  offer_on_index(url.root(), archive);
  manifest::Source direct;
  direct.kind = manifest::Source::Kind::url;
  direct.location = url.url("files/" + wheel);
  sample.runtime().artifacts[0].sources.push_back(direct);
  options.transfer.package_index = silent.url("simple");
  options.transfer.patience = 300ms;
  options.transfer.document_limit = 60s;
  options.transfer.stall_limit = 60s;
  const auto began = std::chrono::steady_clock::now();
  ASSERT_EQ(code(), "ok");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 15s);
}

}  // namespace
}  // namespace enginehost::acquire
