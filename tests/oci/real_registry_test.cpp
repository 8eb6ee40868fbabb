// Pushes to and pulls from Debian's docker-registry, with skopeo as the other client.
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "host/oci/pull.hpp"
#include "tests/oci/installed_build.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/registry_server.hpp"
#include "tests/support/token_server.hpp"
#include "tests/support/variables.hpp"
#include "tools/oci/artifact.hpp"
#include "tools/oci/push.hpp"

namespace enginehost::oci {
namespace {

namespace fs = std::filesystem;
using test::RegistryServer;

struct Said {
  bool succeeded = false;
  std::string output;
};
Said run(const std::vector<std::string>& command) {
  ChildRequest request;
  request.argv = command;
  request.keep_bytes = 1u << 20;
  request.deadline = std::chrono::seconds(60);
  const auto outcome = run_child(request);
  return {outcome && outcome->succeeded(), outcome ? outcome->output + outcome->error : "not started"};
}

class RealRegistry : public test::InstalledBuildTest {
 protected:
  RealRegistry() { test::set_variable("REGISTRY_AUTH_FILE", path_text(folder / "auth.json")); }
  ~RealRegistry() override { test::remove_variable("REGISTRY_AUTH_FILE"); }
  void SetUp() override {
    if (!RegistryServer::installed() || ::access("/usr/bin/skopeo", X_OK) != 0)
      GTEST_SKIP() << "needs docker-registry, skopeo and apache2-utils";
  }
  void sign_in(const std::string& host) {
    test::write_text(folder / "auth.json",
                     R"({"auths": {")" + host + R"(": {"auth": "dXNlcjpwYXNz"}}})");  // user:pass
  }
  Result<Pushed> push_to(const std::string& target, std::uint64_t piece = 64u << 20) {
    auto artifact = make();
    if (!artifact) return fail(artifact.error());
    artifact_ = *artifact;
    PushOptions pushing;
    pushing.piece = piece;
    TRY_ASSIGN(const Reference reference, read_reference(target));
    return push(reference, {*artifact_}, pushing);
  }
  // The trees that a fresh cache installs from there, or the code of the failure.
  std::string fetch_from(const std::string& reference, const transfer::TransferOptions& transfer = {}) {
    test::SampleBuild fresh;
    offer_from(fresh, *artifact_, reference);
    const cache::Store other =
        cache::Store::open(folder / ("fresh" + std::to_string(++caches_)), {}, "oci_test");
    acquire::AcquireOptions fetching;
    fetching.transfer = transfer;
    const auto acquired = acquire::acquire(*fresh.build, other, fetching);
    if (!acquired) return std::string(acquired.error().code_text());
    sources_ = acquired->sources;
    return acquired->installed.trees == (**store.record_of(sample.build->id)).trees ? "same" : "other";
  }
  std::optional<Artifact> artifact_;
  std::vector<std::string> sources_;
  int caches_ = 0;
};

TEST_F(RealRegistry, APushedBuildIsPulledByTagDigestAndBlob) {
  RegistryServer registry;
  const auto pushed = push_to(registry.host() + "/engines/sample:v1");
  ASSERT_TRUE(pushed) << pushed.error().code << " " << pushed.error().value(Key::registry_said);
  EXPECT_EQ(pushed->blobs_sent, 3);
  EXPECT_EQ(fetch_from(pushed->references.at(0)), "same");
  EXPECT_EQ(fetch_from(pushed->reference), "same");
  EXPECT_EQ(fetch_from(registry.host() + "/engines/sample:v1"), "same");
  EXPECT_EQ(fetch_from(registry.host() + "/engines/sample"), "same");
  EXPECT_EQ(fetch_from(registry.host() + "/engines/sample:v2"), "EH-N31");
  EXPECT_EQ(fetch_from(registry.host() + "/engines/other"), "EH-N31");
}

TEST_F(RealRegistry, ASecondPushSendsNothing) {
  RegistryServer registry;
  ASSERT_TRUE(push_to(registry.host() + "/engines/sample"));
  fs::remove_all(folder / "pack");
  const auto again = push_to(registry.host() + "/engines/sample");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->sent, 0u);
  EXPECT_EQ(again->blobs_present, 3);
}

TEST_F(RealRegistry, LongBlobsArePushedInPieces) {
  RegistryServer registry;
  const auto pushed = push_to(registry.host() + "/engines/sample", 100'000);
  ASSERT_TRUE(pushed) << pushed.error().code << " " << pushed.error().value(Key::registry_said);
  EXPECT_GE(registry.requests("PATCH "), 4);
  EXPECT_EQ(fetch_from(pushed->references.at(0)), "same");
}

TEST_F(RealRegistry, SkopeoReadsWhatWasPushed) {
  RegistryServer registry;
  ASSERT_TRUE(push_to(registry.host() + "/engines/sample:v1"));
  const Said raw = run({"skopeo", "inspect", "--raw", "--tls-verify=false",
                        "docker://" + registry.host() + "/engines/sample:v1"});
  ASSERT_TRUE(raw.succeeded) << raw.output;
  EXPECT_EQ(raw.output.substr(0, artifact_->manifest.bytes.size()), artifact_->manifest.bytes);
}

TEST_F(RealRegistry, ALayoutCopiedBySkopeoIsInstalled) {
  RegistryServer registry;
  const auto packing = begin_layout(folder / "layout");
  ASSERT_TRUE(packing);
  ArtifactRequest request;
  request.folder = *packing;
  const auto artifact = make_artifact(**store.record_of(sample.build->id), request);
  ASSERT_TRUE(artifact);
  artifact_ = *artifact;
  ASSERT_TRUE(write_layout(folder / "layout", {*artifact}, "all"));
  const std::string target = registry.host() + "/copied/sample:1";
  const Said copied =
      run({"skopeo", "copy", "--preserve-digests", "--dest-tls-verify=false",
           "oci:" + (folder / "layout").native() + ":" + tag_of(sample.build->id), "docker://" + target});
  ASSERT_TRUE(copied.succeeded) << copied.output;
  EXPECT_EQ(fetch_from(target), "same");
  EXPECT_EQ(fetch_from(registry.host() + "/copied/sample@sha256:" + artifact->manifest.descriptor.digest),
            "same");
  // In the other direction: skopeo copies the same layout out of the registry.
  const Said back = run({"skopeo", "copy", "--preserve-digests", "--src-tls-verify=false",
                         "docker://" + target, "oci:" + (folder / "back").native() + ":1"});
  ASSERT_TRUE(back.succeeded) << back.output;
  EXPECT_TRUE(fs::exists(folder / "back/blobs/sha256" / artifact->manifest.descriptor.digest));
}

TEST_F(RealRegistry, SeveralBuildsStandInOneIndexByPlatformAndFlavor) {
  RegistryServer registry;
  test::SampleBuild second;
  second.build->id = "sample-1.0-cu118-linux-x86_64";
  second.build->flavor = "cu118";
  test::give_plugin(second, folder / "repository");
  install(second);
  const auto one = make(), two = make(second.build->id, "pack2");
  ASSERT_TRUE(one && two);
  const auto target = read_reference(registry.host() + "/engines/sample:all");
  const auto pushed = push(*target, {*one, *two}, {});
  ASSERT_TRUE(pushed) << pushed.error().code << " " << pushed.error().value(Key::registry_said);
  EXPECT_EQ(pushed->references.size(), 2u);
  artifact_ = *one;
  EXPECT_EQ(fetch_from(registry.host() + "/engines/sample:all"), "same");
  EXPECT_EQ(fetch_from(pushed->reference), "same");
}

TEST_F(RealRegistry, AUserOfHtpasswdMustSignIn) {
  RegistryServer registry({"user", "pass", {}});
  const auto refused = push_to(registry.host() + "/engines/sample");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-N30");
  EXPECT_EQ(refused.error().value(Key::signed_in), "no");
  fs::remove_all(folder / "pack");
  sign_in(registry.host());
  const auto pushed = push_to(registry.host() + "/engines/sample");
  ASSERT_TRUE(pushed) << pushed.error().code << " " << pushed.error().value(Key::registry_said);
  EXPECT_EQ(fetch_from(pushed->references.at(0)), "same");
  sign_in("127.0.0.1:1");
  EXPECT_EQ(fetch_from(pushed->references.at(0)), "EH-N30")
      << "credentials of another port are not this one's";
}

TEST_F(RealRegistry, PushAndPullWorkBehindATokenService) {
  RegistryServer registry;
  const test::TokenServer tokens("good", "dXNlcjpwYXNz");
  const test::NginxServer front(tokens.guard(registry.port(), "good", "engines/sample", "pull,push"));
  const std::string host = "127.0.0.1:" + std::to_string(front.port());
  const auto refused = push_to(host + "/engines/sample");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-N30");
  fs::remove_all(folder / "pack");
  sign_in(host);
  const auto pushed = push_to(host + "/engines/sample", 100'000);
  ASSERT_TRUE(pushed) << pushed.error().code << " " << pushed.error().value(Key::registry_said);
  EXPECT_EQ(fetch_from(pushed->references.at(0)), "same");
}

TEST_F(RealRegistry, AMirrorIsAskedFirstAndTheRegistryWhenItFails) {
  RegistryServer registry;
  ASSERT_TRUE(push_to(registry.host() + "/engines/sample:v1"));
  transfer::TransferOptions mirrored;
  {
    RegistryServer mirror({{}, {}, registry.url()});
    mirrored.registry_mirrors = {registry.host() + "=" + mirror.host()};
    EXPECT_EQ(fetch_from(registry.host() + "/engines/sample:v1", mirrored), "same");
    for (const std::string& source : sources_) EXPECT_THAT(source, testing::HasSubstr(mirror.host()));
    const auto refused = push_to(mirror.host() + "/engines/fresh");
    EXPECT_FALSE(refused) << "a mirror takes no pushes";
  }
  mirrored.retries = 0;
  EXPECT_EQ(fetch_from(registry.host() + "/engines/sample:v1", mirrored), "same");
  for (const std::string& source : sources_) EXPECT_THAT(source, testing::HasSubstr(registry.host()));
}

TEST_F(RealRegistry, WithoutTlsOnlyANamedHostIsUsed) {
  RegistryServer registry;
  ASSERT_TRUE(push_to(registry.host() + "/engines/sample"));
  // Another spelling of the address, which does not count as this machine's.
  const std::string host = "127.1:" + std::to_string(registry.port());
  transfer::TransferOptions transfer;
  transfer.retries = 0;
  EXPECT_EQ(fetch_from(host + "/engines/sample", transfer), "EH-N37");
  transfer.plain_http_registries = {host};
  EXPECT_EQ(fetch_from(host + "/engines/sample", transfer), "same");
}

}  // namespace
}  // namespace enginehost::oci
