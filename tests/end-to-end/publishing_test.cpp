// docs/publishing.md word for word, and users of a signed repository on a real server.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/end-to-end/publisher.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Publishing : public Publisher {};

TEST_F(Publishing, ThePageWorksWordForWord) {
  std::ifstream page(fs::path(source_path()) / "docs/publishing.md");
  std::string line, block;
  int blocks = 0;
  bool inside = false;
  while (std::getline(page, line)) {
    if (line == "```sh") {
      inside = true;
      block.clear();
    } else if (line == "```" && inside) {
      inside = false;
      ++blocks;
      sh(block);
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_GE(blocks, 7);
  EXPECT_EQ(fs::exists(publisher_ / "repository/root.json"), true);
  // The last block blocked the build that the user has installed.
  an_hour_passes();
  const Ended run = user_.info({"reference", "--repository", location(), "--json"});
  EXPECT_EQ(run.status, 3) << run.said();
  EXPECT_THAT(run.output, HasSubstr("EH-M14"));
  EXPECT_THAT(run.output, HasSubstr("computes wrong sums"));
}

TEST_F(Publishing, ASignedRepositoryOpensUnlessAByteChanged) {
  publish_signed();
  ASSERT_EQ(open().status, 0) << open().said();
  an_hour_passes();
  const fs::path index = server_.root() / "engines/index.json";
  write_text(index, read_text(index) + " ");
  const Ended other =
      Workplace().info({"reference", "--json", "--allow-unsigned", "--repository", location()});
  EXPECT_EQ(other.status, 0) << "no key is trusted, and the caller allows it: it may be unsigned";
  const Ended run = user_.run("engine-info", {"reference", "--json", "--plan"});
  EXPECT_THAT(run.output + run.error, HasSubstr("EH-M09"));
  // The installed build still opens.
  EXPECT_EQ(open().status, 0) << open().said();
}

TEST_F(Publishing, AStrictMachineImportsOnlySignedBundles) {
  if (!can_mount()) GTEST_SKIP() << "a policy needs a /etc of its own, and with it the right to mount";
  publish_signed();
  ASSERT_EQ(open().status, 0);
  // The keys were rotated: the bundle leads a user who trusts the first key to the new root.
  sh("minisign -G -W -p next.pub -s next.key\n"
     "engine-manifest sign repository --key key.key --key next.key --add-key next.pub --remove-key "
     "$(sed -n '1s/.*key //p' key.pub)\n"
     "engine-manifest publish repository /srv/www/engines");
  an_hour_passes();
  ASSERT_EQ(open().status, 0);
  const std::string bundle = (publisher_ / "signed.bundle").native();
  const Ended exported = user_.run(
      "engine-cache", {"export", bundle, "reference-1.0.0-cpu-linux-x86_64", "--redistribute", "unknown"});
  ASSERT_EQ(exported.status, 0) << exported.said();
  for (const char* rule : {"unsigned_repositories", "require_signatures"}) {
    SCOPED_TRACE(rule);
    const Workplace strict;
    RunOptions options;
    options.launcher =
        with_system_file(strict, Json::object().set("policy", Json::object().set(rule, rule[0] == 'r')));
    const std::vector<std::string> import = {"import", bundle, "--json"};
    const Ended without_key = strict.run("engine-cache", import, options);
    EXPECT_EQ(without_key.status, 8) << without_key.said();
    EXPECT_EQ(without_key.code(), "EH-M10") << without_key.said();
    ASSERT_EQ(strict.run("engine-cache", {"trust", "add", publisher_ / "key.pub"}, options).status, 0);
    const Ended imported = strict.run("engine-cache", import, options);
    EXPECT_EQ(imported.status, 0) << imported.said();
    const Json& build = imported.document["builds"].as_array()[0];
    EXPECT_EQ(build["files_named_by"].as_string(), "manifest");
    EXPECT_EQ(build["signed_by"].as_array().size(), 1u) << imported.said();

    // The same build of an unsigned repository.
    for (const auto& entry : fs::directory_iterator(server_.root() / "engines"))
      if (entry.path().filename().native().find("root.json") == 0 || entry.path().extension() == ".minisig")
        fs::remove(entry.path());
    const Workplace careless;
    const std::string unsigned_bundle = (careless.folder() / "unsigned.bundle").native();
    const std::vector<std::string> there = {"--allow-unsigned", "--repository", location()};
    ASSERT_EQ(careless.run("engine-cache", {"fetch", "reference", there[0], there[1], there[2]}).status, 0);
    ASSERT_EQ(careless
                  .run("engine-cache", {"export", unsigned_bundle, "reference-1.0.0-cpu-linux-x86_64",
                                        "--redistribute", "unknown", there[0], there[1], there[2]})
                  .status,
              0);
    const Workplace other;
    options.launcher =
        with_system_file(other, Json::object().set("policy", Json::object().set(rule, rule[0] == 'r')));
    const Ended refused = other.run("engine-cache", {"import", unsigned_bundle, "--json"}, options);
    // Refused like an unsigned folder or URL: with the rule and the file that contains it.
    EXPECT_EQ(refused.status, 8) << refused.said();
    EXPECT_EQ(refused.code(), "EH-P01") << refused.said();
    EXPECT_EQ(evidence(refused.diagnosis(), "key"), std::string("policy.") + rule);
    EXPECT_EQ(evidence(refused.diagnosis(), "file"), "/etc/enginehost/config.json");
    EXPECT_THAT(evidence(refused.diagnosis(), "what"), HasSubstr("the manifest of it is not signed"));
    EXPECT_THAT(refused.diagnosis()["cause"].as_string(), HasSubstr("/etc/enginehost/config.json"));
    fs::remove_all(server_.root() / "engines");
    sh("engine-manifest publish repository /srv/www/engines");
  }
}

// The build is on record as signed, and no request names its repository any more.
class SignedExport : public Publishing {
 protected:
  void SetUp() override {
    Publishing::SetUp();
    if (IsSkipped()) return;
    publish_signed();
    ASSERT_EQ(open().status, 0);
    user_.configure(Json::object().set("repositories_default", false));
  }
  Ended export_build(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"export",         bundle(),  "reference-1.0.0-cpu-linux-x86_64",
                                          "--redistribute", "unknown", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Ended exported = user_.run("engine-cache", arguments);
    EXPECT_EQ(exported.status, 0) << exported.said();
    return exported;
  }
  // Returns the keys that signed the build, as another machine that trusts the key sees it.
  std::size_t signers_elsewhere() {
    const Workplace other;
    EXPECT_EQ(other.run("engine-cache", {"trust", "add", publisher_ / "key.pub"}).status, 0);
    const Ended imported = other.run("engine-cache", {"import", bundle(), "--unsigned", "--json"});
    EXPECT_EQ(imported.status, 0) << imported.said();
    const auto& builds = imported.document["builds"].as_array();
    return builds.size() == 1 ? builds[0]["signed_by"].as_array().size() : 99;
  }
  std::string bundle() const { return (publisher_ / "kept.bundle").native(); }
};

TEST_F(SignedExport, KeepsTheSignatureOfARepositoryThatNobodyNames) {
  EXPECT_THAT(export_build().document["warnings"].as_array(), testing::IsEmpty());
  EXPECT_EQ(signers_elsewhere(), 1u);
}

TEST_F(SignedExport, KeepsItFromTheKeptCopiesWithoutANetwork) {
  fs::remove_all(server_.root() / "engines");
  EXPECT_THAT(export_build({"--offline"}).document["warnings"].as_array(), testing::IsEmpty());
  EXPECT_EQ(signers_elsewhere(), 1u);
}

TEST_F(SignedExport, SaysWhyItCannotBeKept) {
  const auto warning = [](const Ended& run) {
    const auto& all = run.document["warnings"].as_array();
    return all.size() == 1 ? all[0].as_string() : run.said();
  };
  // The publisher replaced the build by another one under its id.
  write_text(publisher_ / "toy/share/words.txt", "other words");
  sh("engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
     "libengine_toy.so\n"
     "engine-manifest sign repository --key key.key\n"
     "engine-manifest publish repository /srv/www/engines");
  an_hour_passes();
  EXPECT_THAT(warning(export_build()), HasSubstr("no longer offers these bytes with a signature"));
  EXPECT_EQ(signers_elsewhere(), 0u);
  // Nothing can be read.
  fs::remove_all(server_.root() / "engines");
  fs::remove_all(user_.cache() / "repositories");
  const std::string unread = warning(export_build());
  EXPECT_THAT(unread, HasSubstr("the bundle carries no signature of reference-1.0.0-cpu-linux-x86_64"));
  EXPECT_THAT(unread, HasSubstr(location() + " cannot be read (EH-"));
  // On the screen, too.
  const Ended shown = user_.run(
      "engine-cache", {"export", bundle(), "reference-1.0.0-cpu-linux-x86_64", "--redistribute", "unknown"});
  EXPECT_THAT(shown.error, HasSubstr("carries no signature")) << shown.said();
}

// A query may be somebody's key, and a signed manifest cannot be passed on without it.
TEST_F(SignedExport, TakesNoManifestThatNamesAQuery) {
  const fs::path manifest = publisher_ / "repository/engines/reference.json";
  std::string text = read_text(manifest);
  const std::string sources = "\"sources\": [";
  const std::size_t at = text.find(sources);
  ASSERT_NE(at, std::string::npos) << text;
  write_text(manifest,
             text.insert(at + sources.size(), R"({"url": "https://mirror.invalid/data?token=SECRET"}, )"));
  sh("engine-manifest sign repository --key key.key\n"
     "engine-manifest publish repository /srv/www/engines");
  an_hour_passes();
  ASSERT_EQ(open().status, 0);
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{}, std::vector<std::string>{"--repository", location()}}) {
    const Ended exported = export_build(named);
    const auto& warnings = exported.document["warnings"].as_array();
    ASSERT_EQ(warnings.size(), 1u) << exported.said();
    EXPECT_THAT(warnings[0].as_string(), HasSubstr("names a URL with a password or a query"));
    EXPECT_EQ(signers_elsewhere(), 0u);
  }
}

TEST_F(Publishing, AConfiguredUrlWithoutATrustedKeyEndsWith8) {
  publish_signed();
  const Workplace unlisted_file;
  unlisted_file.configure(
      Json::object().set("repositories_default", false).set("repositories", Json::array().push(location())));
  const Ended run = unlisted_file.info({"reference", "--json"});
  EXPECT_EQ(run.status, 8) << run.said();
  EXPECT_EQ(run.code(), "EH-M10");
  const Ended allowed = [&] {
    unlisted_file.configure(
        Json::object()
            .set("repositories_default", false)
            .set("repositories",
                 Json::array().push(Json::object().set("location", location()).set("unsigned", true))));
    return unlisted_file.info({"reference", "--json"});
  }();
  EXPECT_EQ(allowed.status, 0) << allowed.said();
}

TEST_F(Publishing, WrongKeyCommentAndReplayHaveDifferentCodes) {
  publish_signed();
  const fs::path engines = server_.root() / "engines";
  fs::copy(engines, publisher_ / "before", fs::copy_options::recursive);
  sh("engine-manifest add repository toy --engine reference --version 1.0.1 --flavor cpu --plugin "
     "libengine_toy.so\n"
     "engine-manifest sign repository --key key.key\n"
     "engine-manifest publish repository /srv/www/engines");
  ASSERT_EQ(open().outcome()["build"].as_string(), "reference-1.0.1-cpu-linux-x86_64");

  // Nothing is installed by these, so that the repository's own fault is the answer.
  const auto asked = [&](const std::string& code) {
    an_hour_passes();
    for (const char* part : {"refs", "views", "trees"}) fs::remove_all(user_.cache() / part);
    const Ended run = open();
    EXPECT_EQ(run.code(), code) << run.said();
    EXPECT_EQ(run.status, 5);
  };
  fs::rename(engines, publisher_ / "newest");
  fs::copy(publisher_ / "before", engines, fs::copy_options::recursive);
  asked("EH-M11");

  fs::remove_all(engines);
  fs::copy(publisher_ / "newest", engines, fs::copy_options::recursive);
  sh("id=$(printf %016X 0x$(sed -n '1s/.*key //p' key.pub))\n"
     "sed -i 's/version:2/version:3/' /srv/www/engines/index.json.$id.minisig");
  asked("EH-M09");

  sh("id=$(printf %016X 0x$(sed -n '1s/.*key //p' key.pub))\n"
     "minisign -G -W -p other.pub -s other.key\n"
     "minisign -S -s other.key -m /srv/www/engines/index.json -t 'role:index version:2 ts:1795000000' "
     "-x /srv/www/engines/index.json.$id.minisig");
  asked("EH-M09");

  // Even beside another repository, the reason is not that nothing fits.
  TestRepository other(user_.folder() / "other");
  other.add(good_build());
  other.write();
  for (const char* engine : {"reference@1.0.1", "refrence"}) {
    const Ended run = user_.info({engine, "--json", "--repository", other.root().native()});
    EXPECT_EQ(run.code(), "EH-M09") << run.said();
    EXPECT_EQ(run.status, 5);
  }

  // Restored, it serves again.
  fs::remove_all(engines);
  fs::copy(publisher_ / "newest", engines, fs::copy_options::recursive);
  an_hour_passes();
  EXPECT_EQ(open().status, 0);
}

TEST_F(Publishing, SignaturesOfMinisignAreAccepted) {
  publish_signed();
  sh("id=$(printf %016X 0x$(sed -n '1s/.*key //p' key.pub))\n"
     "minisign -S -s key.key -m /srv/www/engines/index.json -t 'role:index version:1 ts:1795000000' "
     "-x /srv/www/engines/index.json.$id.minisig");
  EXPECT_EQ(open().status, 0) << open().said();
}

TEST_F(Publishing, AWrongPassphraseIsReported) {
  sh("engine-manifest init repository --name Toy\n"
     "engine-manifest add repository toy --engine reference --version 1.0.0 --flavor cpu --plugin "
     "libengine_toy.so\n"
     "(ulimit -v 200000; printf 'secret\\nsecret\\n' | minisign -G -p key.pub -s key.key)  # not 1 GiB to "
     "open\n"
     "engine-manifest sign repository --key key.key --passphrase-fd 9 9<<< secret\n"
     "minisign -V -p key.pub -m repository/index.json -x repository/index.json.*.minisig");
  sh("engine-manifest sign repository --key key.key --passphrase-fd 9 9<<< wrong", 2);
  EXPECT_THAT(said_, HasSubstr("EH-M15"));
  sh("ulimit -v 130000; engine-manifest sign repository --key key.key --passphrase-fd 9 9<<< secret", 2);
  EXPECT_THAT(said_, HasSubstr("opening it takes 128 MiB of memory"));
  sh("engine-manifest sign repository --key key.key < /dev/null", 2);
  EXPECT_THAT(said_, HasSubstr("--passphrase-fd"));
}

TEST_F(Publishing, PublishRefusesAChangeThatWasNotSigned) {
  publish_signed();
  sh("engine-manifest publish repository /srv/www/engines");
  EXPECT_THAT(said_, HasSubstr("already"));
  sh("engine-manifest add repository toy --engine reference --version 1.0.1 --flavor cpu --plugin "
     "libengine_toy.so");
  sh("engine-manifest publish repository /srv/www/engines", 5);
  EXPECT_THAT(said_, HasSubstr("EH-M08"));
  EXPECT_EQ(open().outcome()["build"].as_string(), "reference-1.0.0-cpu-linux-x86_64") << "as it was";
}

TEST_F(Publishing, ConcurrentAddsKeepEachOthersBuilds) {
  sh("engine-manifest init repository --name Toy\n"
     "pids=\n"
     "for version in 1.0.0 1.0.1 1.0.2 1.0.3 1.0.4 1.0.5; do\n"
     "  engine-manifest add repository toy --engine reference --version $version --flavor cpu --plugin "
     "libengine_toy.so & pids=\"$pids $!\"\n"
     "done\n"
     "for pid in $pids; do wait $pid; done\n"
     "engine-manifest lint repository\n"
     "engine-manifest publish repository /srv/www/engines");
  const Json manifest = parse_json(read_text(publisher_ / "repository/engines/reference.json"), "it").value();
  EXPECT_EQ(manifest["builds"].as_array().size(), 6u) << manifest.dump(1);
  EXPECT_EQ(manifest["serial"].as_integer(), 6);
}

}  // namespace
}  // namespace enginehost::test
