// Files that a user or a repository names: they are described as what they are, and nothing in them acts on
// the terminal.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class NamedFiles : public testing::Test {
 protected:
  NamedFiles() : repository(workplace.folder() / "repository") {}
  std::string named(const std::string& name) const { return (workplace.folder() / name).native(); }
  std::string pipe() const {
    const std::string name = named("pipe");
    EXPECT_EQ(::mkfifo(name.c_str(), 0644), 0);
    return name;
  }
  // Replaces the manifest of the repository, with the index that it needs.
  void rewrite(const Json& manifest) const {
    const std::string text = manifest.dump();
    write_text(repository.root() / "reference.json", text);
    const Json entry =
        Json::object().set("path", "reference.json").set("sha256", sha256_hex(text)).set("size", text.size());
    write_text(repository.root() / "index.json",
               Json::object().set("format", 1).set("manifests", Json::array().push(entry)).dump());
  }
  Json manifest() const {
    return parse_json(read_text(repository.root() / "reference.json"), "manifest").value();
  }
  // Opens the engine of the repository with text output.
  Ended plainly(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"reference", "--repository", repository.root().native()});
    return workplace.info(more);
  }

  Workplace workplace;
  TestRepository repository;
};

// Whether the text has only printable characters, line feeds and tabs.
testing::AssertionResult acts_on_no_terminal(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F ||
        (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0))
      return testing::AssertionFailure() << "control character at " << i << " of\n" << text;
  }
  return testing::AssertionSuccess();
}

const std::string painting =
    "\x1b[2J\x1b]0;yours\x07\x7f\xc2\x9b"
    "1m\nEH-S99 fake: all is well";

TEST_F(NamedFiles, AManifestCannotColorOrForgeLines) {
  TestBuild other = good_build("reference-other");
  other.requirements = Json::object().set("strange" + painting, "x");
  repository.add(good_build());
  repository.add(other);
  repository.write();
  Json changed = manifest(), builds = Json::array();
  for (Json build : changed["builds"].as_array()) {
    if (build["id"].as_string() == "reference-good") build.set("yanked", painting);
    builds.push(std::move(build));
  }
  rewrite(changed.set("builds", std::move(builds)));
  for (const Ended& run : {plainly(), plainly({"--explain"}), plainly({"--plan", "--explain"})}) {
    EXPECT_TRUE(acts_on_no_terminal(run.output + run.error));
    EXPECT_THAT(run.output + run.error, AllOf(HasSubstr("\\x1b[2J"), Not(HasSubstr("\nEH-S99"))));
  }
  const Ended json =
      workplace.info({"reference", "--plan", "--repository", repository.root().native(), "--json"});
  EXPECT_THAT(json.document["candidates"].dump(), HasSubstr("fake: all is well"))
      << "documents hold it as it is";
}

TEST_F(NamedFiles, ARefusedBuildIdIsPrintedWithoutControlCharacters) {
  repository.add(good_build());
  repository.write();
  Json changed = manifest();
  Json build = changed["builds"].as_array().at(0);
  rewrite(changed.set("builds", Json::array().push(build.set("id", "x" + painting))));
  const Ended run = plainly();
  EXPECT_NE(run.status, 0);
  EXPECT_TRUE(acts_on_no_terminal(run.output + run.error));
  EXPECT_THAT(run.output + run.error, Not(HasSubstr("\nEH-S99")));
}

TEST_F(NamedFiles, ALicenseTextIsShownWithoutControlCharacters) {
  const std::string text = "Terms\tof use\n" + painting + "\nend\n";
  write_text(workplace.folder() / "terms.txt", text);
  TestBuild build = good_build();
  build.license = "vendor";
  build.terms = Json::object()
                    .set("id", "LicenseRef-vendor")
                    .set("sha256", sha256_hex(text))
                    .set("url", "https://licenses.example/" + std::string("vendor"))
                    .set("accept", "explicit");
  repository.add(build);
  repository.write();
  const Ended accepted =
      workplace.run("engine-cache", {"licenses", "accept", "LicenseRef-vendor", "--text", named("terms.txt"),
                                     "--repository", repository.root().native()});
  EXPECT_EQ(accepted.status, 0) << accepted.said();
  EXPECT_TRUE(acts_on_no_terminal(accepted.output));
  EXPECT_THAT(accepted.output, AllOf(HasSubstr("Terms\tof use\n"), HasSubstr("\nend\n")));
}

TEST_F(NamedFiles, ANamedPipeIsNotWaitedFor) {
  const std::string fifo = pipe();
  fs::create_directories(repository.root());
  ASSERT_EQ(::mkfifo((repository.root() / "index.json").c_str(), 0644), 0);
  RunOptions soon;
  soon.deadline = std::chrono::seconds(30);
  const std::vector<std::pair<std::string, std::vector<std::string>>> commands = {
      {"engine-info", {"--plugin", fifo}},
      {"engine-info", {"--inspect", fifo}},
      {"engine-info", {"reference", "--platform", fifo}},
      {"engine-info", {"reference", "--repository", repository.root().native()}},
      {"engine-cache", {"import", fifo}},
      {"engine-cache", {"fulfil", fifo}},
      {"engine-cache", {"trust", "add", fifo}},
      {"engine-manifest", {"lint", repository.root().native()}}};
  for (const auto& [command, arguments] : commands) {
    const Ended run = workplace.run(command, arguments, soon);
    EXPECT_FALSE(run.timed_out) << command << " " << arguments.front();
    EXPECT_NE(run.status, 0) << command << " " << arguments.front();
    EXPECT_THAT(run.error + run.output,
                AnyOf(HasSubstr("named pipe, not a file"), HasSubstr("not a regular file")))
        << command << " " << arguments.front();
  }
}

TEST_F(NamedFiles, FilesBesideAPluginAreNoPartOfIt) {
  const fs::path plugin = workplace.folder() / "plugins" / "libengine_reference.so";
  fs::create_directories(plugin.parent_path());
  write_text(plugin, reference_plugin());
  const std::vector<std::pair<std::string, std::string>> others = {
      {"libempty.so", ""}, {"libtext.so", "no library\n"}, {"libcut.so", reference_plugin().substr(0, 1000)}};
  for (const auto& [name, content] : others) {
    write_text(plugin.parent_path() / name, content);
    const Ended run = workplace.info({"--plugin", plugin.native()});
    EXPECT_EQ(run.status, 0) << name << ": " << run.said();
    EXPECT_THAT(run.error, HasSubstr(name)) << "a warning names it";
  }
}

TEST_F(NamedFiles, ANamedPipeInTheCacheIsRemovedByRepair) {
  repository.add(good_build());
  repository.write();
  const std::string location = repository.root().native();
  RunOptions soon;
  soon.deadline = std::chrono::seconds(30);
  const auto cache = [&](std::vector<std::string> arguments) {
    Ended run = workplace.run("engine-cache", std::move(arguments), soon);
    EXPECT_FALSE(run.timed_out);
    return run;
  };
  ASSERT_EQ(cache({"fetch", "reference", "--repository", location}).status, 0);
  const fs::path unlisted_file = workplace.cache() / "refs" / "stranger.ref";
  ASSERT_EQ(::mkfifo(unlisted_file.c_str(), 0644), 0);
  EXPECT_EQ(cache({"list"}).status, 0);
  EXPECT_EQ(cache({"gc", "--dry-run"}).status, 0);
  EXPECT_EQ(workplace.info({"reference", "--repository", location}, soon).status, 0);
  const Ended ended = cache({"verify"});
  EXPECT_EQ(ended.status, 6) << ended.said();
  EXPECT_THAT(ended.said(), AllOf(HasSubstr("refs/stranger.ref"), HasSubstr("verify --repair")));
  EXPECT_EQ(cache({"verify", "--repair"}).status, 0);
  EXPECT_FALSE(fs::exists(unlisted_file));
  // A pipe in the place of a build's own record, and of its library.
  const fs::path record = workplace.cache() / "refs" / "reference-good.ref";
  fs::remove(record);
  ASSERT_EQ(::mkfifo(record.c_str(), 0644), 0);
  EXPECT_EQ(workplace.info({"reference", "--repository", location}, soon).status, 0);
  EXPECT_TRUE(fs::is_regular_file(record));
  const Ended opened = workplace.info({"reference", "--repository", location, "--json"}, soon);
  const fs::path library = opened.outcome()["library"].as_string();
  std::vector<fs::path> libraries = {library};
  for (const auto& file : fs::recursive_directory_iterator(workplace.cache() / "trees"))
    if (file.path().filename() == library.filename()) libraries.push_back(file.path());
  for (const fs::path& file : libraries) {
    fs::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0644), 0);
  }
  EXPECT_NE(cache({"verify"}).status, 0);
  EXPECT_NE(cache({"export", (workplace.folder() / "x.bundle").native(), "reference-good"}).status, 0);
  EXPECT_EQ(cache({"verify", "--repair", "--repository", location}).status, 0);
}

TEST_F(NamedFiles, AFileFromADescriptorIsRead) {
  repository.add(good_build());
  repository.write();
  const Ended recorded = workplace.info({"--platform-json"});
  RunOptions handed;
  handed.input = recorded.output;
  const Ended run = workplace.info(
      {"reference", "--repository", repository.root().native(), "--platform", "/dev/stdin", "--json"},
      handed);
  EXPECT_EQ(run.status, 0) << run.said();
}

TEST_F(NamedFiles, ATooLongManifestIsReportedWithItsSizeAndTheLimit) {
  repository.add(good_build());
  repository.write();
  rewrite(manifest().set("comment", std::string(9u << 20, 'x')));
  const Ended run = plainly();
  EXPECT_THAT(run.output + run.error, AllOf(HasSubstr("reference.json has 9.0 MiB"),
                                            HasSubstr("at most 8.0 MiB"), Not(HasSubstr("does not exist"))));
  write_text(repository.root() / "index.json", std::string(9u << 20, ' ') + "{}");
  const Ended index = plainly();
  EXPECT_THAT(index.output + index.error,
              AllOf(HasSubstr("its index.json has 9.0 MiB"), HasSubstr("at most 8.0 MiB")));
}

TEST_F(NamedFiles, ARemedyNamesTheFileThatWasGiven) {
  write_text(workplace.folder() / "text", "no library\n");
  write_text(workplace.folder() / "machine.json", "{\"format\": 1}");
  repository.add(good_build());
  repository.write();
  ASSERT_EQ(workplace.run("engine-cache", {"fetch", "reference", "--repository", repository.root().native()})
                .status,
            0);
  struct Named {
    std::string command;
    std::vector<std::string> arguments;
    int status;
  };
  const std::vector<Named> commands = {
      {"engine-info", {"--plugin", named("none")}, 2},
      {"engine-info", {"--plugin", named("text")}, 2},
      {"engine-info", {"--inspect", named("none")}, 2},
      {"engine-info", {"--inspect", named("text")}, 6},
      {"engine-info", {"reference", "--platform", named("machine.json")}, 2},
      {"engine-info", {"reference", "--platform", named("text")}, 2},
      {"engine-cache", {"fetch", "reference", "--platform", named("text")}, 2},
      {"engine-cache", {"request", named("none/x"), "reference"}, 7},
      {"engine-cache", {"export", workplace.folder().native(), "reference-good"}, 7},
      {"engine-cache", {"export", named(std::string(300, 'x')), "reference-good"}, 7},
      {"engine-manifest", {"init", "/proc/x", "--name", "x"}, 7}};
  for (const Named& one : commands) {
    const Ended run = workplace.run(one.command, one.arguments);
    const std::string what = one.command + " " + one.arguments.front() + " " + one.arguments[1];
    EXPECT_EQ(run.status, one.status) << what << ": " << run.said();
    for (const char* other : {"ENGINEHOST_CACHE", "engine-cache verify", "sign in to the network",
                              "docs/manifests.md", "engine-cache remove", "publisher"})
      EXPECT_THAT(run.output + run.error, Not(HasSubstr(other))) << what;
    EXPECT_THAT(run.output + run.error, HasSubstr("\n  fix ")) << what;
  }
}

TEST_F(NamedFiles, AnInspectedFilesNameForgesNoLine) {
  const std::string name = named("x.so: loads\nEH-L01 forged\x1b[2J.so");
  write_text(name, reference_plugin());
  const Ended run = workplace.info({"--inspect", name});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, Not(HasSubstr("\nEH-L01")));
  EXPECT_THAT(run.output, HasSubstr("x.so: loads EH-L01 forged\\x1b[2J.so: loads\n"));
}

TEST_F(NamedFiles, AForeignFileIsNotDescribedAsALibrary) {
  write_text(named("text"), "no library\n");
  const Ended run = workplace.info({"--inspect", named("text")});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_THAT(run.output, HasSubstr("\nthe file\n  linker script or text, 11 bytes\n")) << run.said();
}

// Reported before an engine is searched or run.
TEST_F(NamedFiles, AnImpossibleOutputFolderIsReportedFirst) {
  write_text(named("file"), "");
  const Ended run =
      workplace.run("engine-run", {"nosuch", named("model"), "--output", named("file"), "--json"});
  EXPECT_EQ(run.code(), "EH-F16") << run.said();
  EXPECT_EQ(run.status, 7);
}

TEST_F(NamedFiles, TheInputOfAManifestIsAnArgument) {
  const std::string folder = named("made");
  ASSERT_EQ(workplace.run("engine-manifest", {"init", folder, "--name", "x"}).status, 0);
  write_text(workplace.folder() / "engine.zip", zip_of({{"lib/a.txt", "a"}}));
  const auto add = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"add", folder});
    more.insert(more.end(), {"--engine", "reference", "--version", "1", "--flavor", "cpu"});
    return workplace.run("engine-manifest", more);
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{named("none")},
                                               {named("engine.zip"), "--plugin", named("none")},
                                               {named("engine.zip"), "--strip", "99"},
                                               {named("engine.zip"), "--select", "nomatch*"}}) {
    const Ended run = add(more);
    EXPECT_EQ(run.status, 2) << more.back() << ": " << run.said();
    EXPECT_THAT(run.error, Not(AnyOf(HasSubstr("publisher"), HasSubstr("engine-cache verify"))))
        << more.back();
  }
}

TEST_F(NamedFiles, ARepositoryWrittenByHandIsLintedByItsIndex) {
  repository.add(good_build());
  repository.write();
  const Ended right = workplace.run("engine-manifest", {"lint", repository.root().native()});
  EXPECT_EQ(right.status, 0) << right.said();
  EXPECT_THAT(right.output, AnyOf(HasSubstr("was never looked into"), HasSubstr("were never looked into")));
  // No build can be added to it as it is.
  EXPECT_THAT(right.output, HasSubstr("fix: only a repository that engine-manifest init"));
  write_text(repository.root() / "reference.json", read_text(repository.root() / "reference.json") + "\n");
  const Ended changed = workplace.run("engine-manifest", {"lint", repository.root().native()});
  EXPECT_NE(changed.status, 0);
  EXPECT_THAT(changed.output, HasSubstr("EH-M05")) << changed.said();
  EXPECT_THAT(changed.output, HasSubstr("fix: correct its \"sha256\" and \"size\" in index.json"));
}

TEST_F(NamedFiles, LintReportsADanglingManifestAsAnArgument) {
  const std::string folder = named("made");
  ASSERT_EQ(workplace.run("engine-manifest", {"init", folder, "--name", "x"}).status, 0);
  std::filesystem::create_symlink("nowhere", std::filesystem::path(folder) / "engines/.#reference.json");
  const Ended run = workplace.run("engine-manifest", {"lint", folder});
  EXPECT_EQ(run.status, 2) << run.said();
}

TEST_F(NamedFiles, DotsBehindALinkLeadWhereTheSystemSays) {
  const fs::path disk = fs::canonical(workplace.folder()) / "disk";
  fs::create_directories(disk / "today");
  fs::create_directory_symlink(disk / "today", named("link"));
  const std::string by_link = named("link") + "/../";
  write_text(disk / "toy/libengine_reference.so", reference_plugin());
  write_text(disk / "key.pub",
             "untrusted comment: minisign public key 5DCB5B9399CE8D14\n"
             "RWQUjc6Zk1vLXaSIPCqpNnEv3FHhSKRLLULbgnzKpxXSLZJaDX5co+Zj\n");
  const auto succeeds = [&](const char* program, std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const Ended run = workplace.run(program, std::move(arguments));
    EXPECT_EQ(run.status, 0) << run.said();
  };
  succeeds("engine-manifest", {"init", by_link + "made", "--name", "x"});
  succeeds("engine-manifest", {"add", by_link + "made", by_link + "toy", "--engine", "reference", "--version",
                               "1.0.0", "--flavor", "cpu"});
  succeeds("engine-manifest", {"lint", by_link + "made"});
  succeeds("engine-manifest", {"publish", by_link + "made", by_link + "www/engines/"});
  succeeds("engine-cache", {"trust", "add", by_link + "key.pub"});
  succeeds("engine-cache",
           {"fetch", "reference", "--repository", by_link + "www/engines", "--cache", by_link + "cache"});
  succeeds("engine-cache",
           {"export", by_link + "x.bundle", "reference-1.0.0-cpu-linux-" + std::string(architecture),
            "--redistribute", "unknown", "--cache", by_link + "cache"});
  for (const char* made :
       {"made/engines/reference.json", "www/engines/index.json", "cache/views", "x.bundle"})
    EXPECT_TRUE(fs::exists(disk / made)) << made;
  for (const char* other : {"made", "www", "x.bundle"}) EXPECT_FALSE(fs::exists(named(other))) << other;
}

TEST_F(NamedFiles, PartsHaveALeastSizeAndAreNotAllOpenAtOnce) {
  repository.add([] {
    TestBuild build = good_build();
    build.files.push_back({"large.bin", noise(32u << 20)});
    return build;
  }());
  repository.write();
  ASSERT_EQ(workplace.run("engine-cache", {"fetch", "reference", "--repository", repository.root().native()})
                .status,
            0);
  const Ended small = workplace.run(
      "engine-cache", {"export", named("x.bundle"), "reference-good", "--max-part", "1", "--json"});
  EXPECT_EQ(small.status, 2) << small.said();
  EXPECT_THAT(small.diagnosis()["cause"].as_string(), HasSubstr("at least 1M"));
  RunOptions few;
  few.launcher = {"sh", "-c", "ulimit -n 24 && exec \"$@\"", "sh"};
  const Ended parts = workplace.run(
      "engine-cache", {"export", named("y.bundle"), "reference-good", "--max-part", "1M", "--json"}, few);
  EXPECT_EQ(parts.status, 0) << parts.said();
  EXPECT_GT(parts.document["parts"].as_array().size(), 24u);
  EXPECT_EQ(workplace.run("engine-cache", {"import", named("y.bundle"), "--cache", named("other")}).status,
            0);
}

TEST_F(NamedFiles, ACandidateThatFitsHasNoDiagnosis) {
  repository.add(good_build());
  repository.write();
  const Ended run =
      workplace.info({"reference", "--plan", "--repository", repository.root().native(), "--json"});
  ASSERT_EQ(run.status, 0) << run.said();
  for (const Json& candidate : run.document["candidates"].as_array()) {
    ASSERT_NE(candidate.find("diagnosis"), nullptr);
    EXPECT_TRUE(candidate["diagnosis"].is_null() || candidate["verdict"].as_string() != "chosen");
  }
}

}  // namespace
}  // namespace enginehost::test
