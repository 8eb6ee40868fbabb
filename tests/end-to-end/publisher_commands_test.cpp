// A publisher's commands from libraries to a signed repository that users open from, on every system.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/system.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Made by minisign 0.10 for this test; the passphrase is "a toy".
constexpr const char* locked_key =
    "untrusted comment: minisign encrypted secret key\n"
    "RWRTY0IyRMHu1553hqf5Rx/07XvRNwdL4GJ9q5mArmhw1BlZ4cgAAAACAAAAAAAAAEAAAAAAiHzqQNfmtFdV8/t26vYsR9afQP/"
    "xGgSQsYoXgveJGXGx8gTDLK87pOqJrnwD2LKk4UNK3Hq4hmtHxdHLt7EMmqieX2LXoGdKI7XEn7u9Ns1IY1AxmLmY97XgF6wFKNa1"
    "mLC3cXHO1MQ=\n";
constexpr const char* locked_key_public =
    "untrusted comment: minisign public key 84FEED6D69A3CCC9\n"
    "RWTJzKNpbe3+hFYI7FiZGFc0GRdx8UmOtDaFLiNvmI50mtvj9RF1UrDn\n";
constexpr const char* open_key =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFI3OmZNby10Ko1pv4mDftIv/"
    "g72DQZJE9F"
    "HcDpv0SpZVPqmQgmTZn6SIPCqpNnEv3FHhSKRLLULbgnzKpxXSLZJaDX5co+"
    "ZjAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
constexpr const char* open_key_public =
    "untrusted comment: minisign public key 5DCB5B9399CE8D14\n"
    "RWQUjc6Zk1vLXaSIPCqpNnEv3FHhSKRLLULbgnzKpxXSLZJaDX5co+Zj\n";

constexpr const char* next_key =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAKj6fFGj5DAFWuKx8BZO8UMUkrwa9"
    "Wq19oWppqIv68h0YPYqOrDDDpaPXWqXvHDmBCxujFvpfC0qWcYlb2nNY244TqtxHBYxOAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAA=\n";
constexpr const char* next_key_public =
    "untrusted comment: minisign public key 10CF968149F3E2A\n"
    "RWQqPp8UaPkMAaPXWqXvHDmBCxujFvpfC0qWcYlb2nNY244TqtxHBYxO\n";

class PublisherCommands : public testing::Test {
 protected:
  PublisherCommands() {
    write_text(folder() / "toy" / "lib" / ENGINEHOST_MISSING_MATH, read_text(ENGINEHOST_MISSING_MATH_FILE));
    write_text(folder() / "toy" / "share" / path_of("w\u00f6rter.txt"), "toy");
    write_text(folder() / plugin_name, reference_plugin());
    write_text(folder() / "locked.key", locked_key);
    write_text(folder() / "locked.pub", locked_key_public);
    write_text(folder() / "open.key", open_key);
    write_text(folder() / "open.pub", open_key_public);
    write_text(folder() / "next.key", next_key);
    write_text(folder() / "next.pub", next_key_public);
    EXPECT_EQ(manifest({"init", at("repository"), "--name", "T\u00f6y"}).status, 0);
  }
  // A folder whose name no code page can represent.
  fs::path folder() const { return publisher_.folder(); }
  std::string at(const char* name) const { return path_text(folder() / name); }

  Ended manifest(std::vector<std::string> arguments, const std::string& input = {}) const {
    RunOptions options;
    options.input = input;
    arguments.push_back("--json");
    return publisher_.run("engine-manifest", std::move(arguments), options);
  }
  Ended add(const std::string& version = "1.0.0") const {
    return manifest({"add", at("repository"), at("toy"), "--engine", "reference", "--version", version,
                     "--flavor", "cpu", "--plugin", at(plugin_name)});
  }
  Ended sign(const char* key) const { return manifest({"sign", at("repository"), "--key", at(key)}); }
  Ended publish() const {
    return manifest({"publish", at("repository"), path_text(server_.root() / "engines")});
  }
  static std::string build_of(const std::string& version) {
    return "reference-" + version + "-cpu-" + system_name + "-" + architecture;
  }
  // A web server's repository that the configuration names must be signed. Cached copies count for an hour,
  // which has passed.
  Ended open(std::vector<std::string> more = {}) const {
    fs::remove_all(user_.cache() / "repositories");
    more.insert(more.begin(), {"reference", "--json"});
    return user_.info(std::move(more));
  }
  void configure_user() const {
    user_.configure(Json::object()
                        .set("repositories_default", false)
                        .set("repositories", Json::array().push(server_.url("engines"))));
  }
  Ended trust(const char* key) const { return user_.run("engine-cache", {"trust", "add", at(key)}); }
  fs::path manifest_file() const { return folder() / "repository" / "engines" / "reference.json"; }

  NginxServer server_;
  Workplace publisher_{"J\u00fcrgen \u03a9 \u7528\u6237"}, user_;
};

TEST_F(PublisherCommands, AddABuildWithTheFactsOfItsFiles) {
  const Ended added = add();
  ASSERT_EQ(added.status, 0) << added.said();
  EXPECT_EQ(added.document["build"].as_string(), build_of("1.0.0"));
  EXPECT_EQ(added.document["requires"].find("libraries"), nullptr)
      << "all that it needs it brings or is the system's: " << added.document["requires"].dump();
  const Json text = parse_json(read_text(manifest_file()), "it").value();
  ASSERT_EQ(text["builds"].as_array().size(), 1u);
  const Json& build = text["builds"].as_array()[0];
  EXPECT_EQ(build["os"].as_string(), system_name);
  EXPECT_EQ(build["plugin"]["path"].as_string(), plugin_name);
  EXPECT_THAT(build["search"].dump(), HasSubstr("\"lib\""));
  const Ended linted = manifest({"lint", at("repository")});
  EXPECT_EQ(linted.status, 0) << linted.said();
  EXPECT_THAT(linted.document["errors"].as_array(), IsEmpty());
  // The same bytes added twice give the same archive.
  EXPECT_EQ(add("1.0.1").status, 0);
  const Json both = parse_json(read_text(manifest_file()), "it").value();
  EXPECT_EQ(
      both["components"]["reference-1.0.0-cpu-" + std::string(system_name) + "-" + architecture]["artifacts"],
      both["components"]["reference-1.0.1-cpu-" + std::string(system_name) + "-" + architecture]
          ["artifacts"]);
}

TEST_F(PublisherCommands, LintEndsWithTheStatusOfItsFirstError) {
  ASSERT_EQ(add().status, 0);
  std::string text = read_text(manifest_file());
  const std::string right = std::string("\"os\": \"") + system_name + "\"";
  ASSERT_NE(text.find(right), std::string::npos) << text;
  text.replace(text.find(right), right.size(), "\"os\": \"macos\"");
  write_text(manifest_file(), text);
  const Ended linted = manifest({"lint", at("repository")});
  EXPECT_EQ(linted.status, 2) << linted.said();
  EXPECT_THAT(linted.output, HasSubstr("its libraries are for " + std::string(system_name)));
}

TEST_F(PublisherCommands, LintPrintsARemedyForEachFinding) {
  ASSERT_EQ(add().status, 0);
  std::string text = read_text(manifest_file());
  const std::string right = "\"size\": ";
  const std::size_t first = text.find(right) + right.size();
  const std::string size = text.substr(first, text.find_first_not_of("0123456789", first) - first);
  text.insert(first, "9");
  write_text(manifest_file(), text);
  const Ended linted = publisher_.run("engine-manifest", {"lint", at("repository")});
  EXPECT_EQ(linted.status, 2) << linted.said();
  EXPECT_THAT(linted.output, testing::AllOf(HasSubstr("error: EH-M16 "),
                                            HasSubstr(" has " + size + " bytes, the manifest says 9" + size +
                                                      "\n  fix: correct \"size\"\n")));
}

TEST_F(PublisherCommands, AnIndexKeyDoesNotMakeARepositoryTrusted) {
  ASSERT_EQ(add().status, 0);
  ASSERT_EQ(
      manifest({"sign", at("repository"), "--key", at("next.key"), "--add-index-key", at("open.pub")}).status,
      0);
  ASSERT_EQ(sign("open.key").status, 0);
  ASSERT_EQ(publish().status, 0);
  configure_user();
  ASSERT_EQ(trust("open.pub").status, 0);
  const Ended daily = open();
  EXPECT_EQ(daily.status, 8) << daily.said();
  EXPECT_EQ(daily.code(), "EH-M10");
  EXPECT_THAT(daily.diagnosis()["remedy"].dump(), HasSubstr("use the key that signs root.json"));
  ASSERT_EQ(trust("next.pub").status, 0);
  EXPECT_EQ(open().status, 0);
  // The publisher's report mentions only the publisher's documents.
  ASSERT_EQ(add("1.0.1").status, 0);
  const Ended refused = publish();
  EXPECT_EQ(refused.code(), "EH-M08") << refused.said();
  EXPECT_EQ(refused.diagnosis()["remedy"].as_array().size(), 1u) << refused.said();
  EXPECT_THAT(refused.diagnosis()["remedy"].dump(),
              HasSubstr("with --key of 010CF968149F3E2A or 5DCB5B9399CE8D14"));
}

TEST_F(PublisherCommands, AKeyThatIsNoFileIsReportedAsMissing) {
  ASSERT_EQ(add().status, 0);
  for (const char* flag : {"--add-key", "--add-index-key", "--add-root-key"}) {
    const Ended missing = manifest({"sign", at("repository"), "--key", at("open.key"), flag, at("gone.pub")});
    EXPECT_EQ(missing.status, 2) << missing.said();
    EXPECT_EQ(missing.code(), "EH-P47") << flag;
  }
  EXPECT_FALSE(fs::exists(folder() / "repository" / "root.json"));
}

TEST_F(PublisherCommands, TrustingAKeyForAMissingFolderWarns) {
  const Ended added = user_.run(
      "engine-cache", {"trust", "add", at("open.pub"), "--repository", "engines.example/toy", "--json"});
  EXPECT_EQ(added.status, 0) << added.said();
  EXPECT_THAT(added.document["warnings"].dump(), HasSubstr("a URL begins with https:// or http://"));
  const Ended right =
      user_.run("engine-cache", {"trust", "add", at("open.pub"), "--repository", at("repository"), "--json"});
  EXPECT_THAT(right.document["warnings"].as_array(), IsEmpty());
  const Ended gone = user_.run("engine-cache", {"trust", "remove", "123", "--json"});
  EXPECT_EQ(gone.status, 2) << gone.said();
  EXPECT_THAT(gone.diagnosis()["remedy"].dump(), HasSubstr("engine-cache trust list"));
}

TEST_F(PublisherCommands, RefuseToAddAFileThatIsNoPlugin) {
  const Ended added = manifest(
      {"add", at("repository"), at("toy"), "--engine", "reference", "--version", "1.0.0", "--flavor", "cpu"});
  EXPECT_EQ(added.status, 2) << added.said();
  EXPECT_EQ(added.code(), "EH-M17");
  const Ended nowhere = manifest({"lint", at("nowhere")});
  EXPECT_NE(nowhere.status, 0);
  EXPECT_THAT(nowhere.code(), HasSubstr("EH-")) << nowhere.said();
}

TEST_F(PublisherCommands, RemediesNameTheRepositoryAndTheWrongFlag) {
  ASSERT_EQ(add().status, 0);
  const Ended signing = manifest({"sign", at("repository"), "--key", at("open.key")});
  ASSERT_EQ(signing.status, 0) << signing.said();
  const Ended other = manifest({"sign", at("repository"), "--key", at("next.key")});
  EXPECT_EQ(other.code(), "EH-M17") << other.said();
  // The folder has a blank in its name.
  const std::string quote = fs::path::preferred_separator == '/' ? "'" : "\"";
  EXPECT_THAT(other.diagnosis()["remedy"].as_array()[0].as_string(),
              HasSubstr("engine-manifest sign " + quote + at("repository") + quote + " --add-key"));
  const Ended named = manifest(
      {"add", at("repository"), at("toy"), "--engine", "Toy", "--version", "1.0.0", "--flavor", "cpu"});
  EXPECT_EQ(named.status, 2) << named.said();
  EXPECT_THAT(named.diagnosis()["cause"].as_string(),
              HasSubstr("--engine \"Toy\" is not lower-case letters"));
}

// scrypt with minisign's parameters takes 1 GiB and some seconds.
TEST_F(PublisherCommands, ReadThePassphraseFromADescriptor) {
  ASSERT_EQ(add().status, 0);
  const std::vector<std::string> with_passphrase = {"sign",           at("repository"),  "--key",
                                                    at("locked.key"), "--passphrase-fd", "0"};
  const Ended wrong = manifest(with_passphrase, "a game\n");
  EXPECT_EQ(wrong.status, 2) << wrong.said();
  EXPECT_EQ(wrong.code(), "EH-M15");
  EXPECT_THAT(wrong.output, HasSubstr("the passphrase is wrong"));
  EXPECT_FALSE(fs::exists(folder() / "repository" / "root.json"));
  EXPECT_THAT(wrong.diagnosis()["remedy"].dump(), HasSubstr("the passphrase that minisign -G asked for"));
  const Ended unasked = sign("locked.key");
  EXPECT_EQ(unasked.status, 2) << unasked.said();
  EXPECT_THAT(unasked.output, HasSubstr("--passphrase-fd"));
  const Ended none = manifest(with_passphrase, "");
  EXPECT_EQ(none.status, 2) << none.said();
  EXPECT_THAT(none.diagnosis()["cause"].as_string(), HasSubstr("from descriptor 0: no line is left there"));
  const Ended closed =
      manifest({"sign", at("repository"), "--key", at("locked.key"), "--passphrase-fd", "99"});
  EXPECT_EQ(closed.code(), "EH-M15") << closed.said();
  EXPECT_THAT(closed.diagnosis()["cause"].as_string(), HasSubstr("from descriptor 99: "));
  const Ended below =
      manifest({"sign", at("repository"), "--key", at("locked.key"), "--passphrase-fd", "-5"});
  EXPECT_EQ(below.code(), "EH-P40") << below.said();
  // Lines end as the system's editors end them.
  const Ended signed_now = manifest(with_passphrase, system_name[0] == 'w' ? "a toy\r\n" : "a toy\n");
  ASSERT_EQ(signed_now.status, 0) << signed_now.said();
  EXPECT_THAT(signed_now.document["missing"].as_array(), IsEmpty());
  EXPECT_EQ(signed_now.document["signed"].as_array().size(), 2u) << signed_now.said();
  EXPECT_TRUE(fs::exists(folder() / "repository" / "index.json.84FEED6D69A3CCC9.minisig"));
}

TEST_F(PublisherCommands, UsersOpenOnlyWhatTheTrustedKeySigned) {
  ASSERT_EQ(add().status, 0);
  const Ended signed_now = sign("open.key");
  ASSERT_EQ(signed_now.status, 0) << signed_now.said();
  const Ended published = publish();
  ASSERT_EQ(published.status, 0) << published.said();
  EXPECT_TRUE(published.document["changed"].as_bool());
  EXPECT_EQ(published.document["serial"].as_integer(), 1);
  EXPECT_FALSE(publish().document["changed"].as_bool()) << "nothing is new";

  configure_user();
  const Ended unlisted_file = open();
  EXPECT_EQ(unlisted_file.status, 8) << unlisted_file.said();
  EXPECT_EQ(unlisted_file.code(), "EH-M10");
  ASSERT_EQ(trust("open.pub").status, 0);
  const Ended opened = open();
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), build_of("1.0.0"));
  const fs::path view = path_of(opened.outcome()["library"].as_string()).parent_path();
  EXPECT_EQ(read_text(view / "lib" / ENGINEHOST_MISSING_MATH), read_text(ENGINEHOST_MISSING_MATH_FILE));
  EXPECT_EQ(read_text(view / "share" / path_of("w\u00f6rter.txt")), "toy");

  // A changed byte that is not signed.
  const fs::path index = server_.root() / "engines" / "index.json";
  const std::string whole = read_text(index);
  fs::permissions(index, fs::perms::owner_write, fs::perm_options::add);
  write_text(index, whole + " ");
  const Ended changed = open({"--plan"});
  EXPECT_THAT(changed.output, HasSubstr("EH-M09")) << changed.said();
  write_text(index, whole);

  // A change that was not signed is not published.
  ASSERT_EQ(add("1.0.1").status, 0);
  const Ended refused = publish();
  EXPECT_EQ(refused.status, 5) << refused.said();
  EXPECT_EQ(refused.code(), "EH-M08");
  ASSERT_EQ(sign("open.key").status, 0);
  EXPECT_EQ(publish().document["serial"].as_integer(), 2);
  EXPECT_EQ(open({"--update", "open"}).outcome()["build"].as_string(), build_of("1.0.1"));
}

TEST_F(PublisherCommands, UsersFollowAKeyRotation) {
  ASSERT_EQ(add().status, 0);
  ASSERT_EQ(sign("open.key").status, 0);
  ASSERT_EQ(publish().status, 0);
  configure_user();
  ASSERT_EQ(trust("open.pub").status, 0);
  ASSERT_EQ(open().status, 0);
  const Ended alone = manifest({"sign", at("repository"), "--key", at("open.key"), "--add-key",
                                at("next.pub"), "--index-threshold", "2"});
  ASSERT_EQ(alone.status, 0) << alone.said();
  EXPECT_THAT(alone.output, HasSubstr("1 of 2"));
  const Ended refused = publish();
  EXPECT_EQ(refused.status, 5) << refused.said();
  const Ended both = sign("next.key");
  ASSERT_EQ(both.status, 0) << both.said();
  EXPECT_THAT(both.document["missing"].as_array(), IsEmpty()) << both.said();
  ASSERT_EQ(publish().status, 0);
  const Ended opened = open();
  EXPECT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.document["warnings"].as_array(), IsEmpty()) << opened.said();
}

}  // namespace
}  // namespace enginehost::test
