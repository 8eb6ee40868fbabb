// The flags that a printed command copies from the command that failed.
#include "host/commands/location_flags.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

class LocationFlagsTest : public testing::Test {
 protected:
  ~LocationFlagsTest() override { give({}); }
  static void give(std::vector<std::string> arguments) {
    CLI::App app{"a test"};
    std::string engine, platform;
    app.add_option("ENGINE", engine);
    app.add_option("--platform", platform);
    CommonFlags flags;
    flags.add_to(app);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    note_given_flags(app);
  }
};

TEST_F(LocationFlagsTest, FollowTheNameOfEachCommandThatKnowsThem) {
  give({"reference", "--cache", "/c", "--repository", "/r", "--repository", "https://a:b@host/r",
        "--platform", "m.json"});
  struct Row {
    const char *printed, *wanted;
  };
  for (const auto& [printed, wanted] : {
           Row{"engine-info reference --plan --explain shows every build",
               "engine-info --cache /c --repository /r --repository https://host/r --platform m.json "
               "reference --plan "
               "--explain shows every build"},
           Row{"use another (engine-info ENGINE --plan --explain lists them) or none",
               "use another (engine-info --cache /c --repository /r --repository https://host/r --platform "
               "m.json ENGINE "
               "--plan --explain lists them) or none"},
           Row{"engine-info lists the engines",
               "engine-info --cache /c --repository /r --repository https://host/r lists the engines"},
           Row{"engine-cache quarantine show x shows why; engine-cache quarantine clear x tries again",
               "engine-cache quarantine show --cache /c x shows why; engine-cache quarantine clear --cache "
               "/c x tries "
               "again"},
           Row{"engine-cache trust add KEY --repository /other",
               "engine-cache trust add --cache /c KEY --repository /other"},
           Row{"engine-cache fetch x --platform other.json",
               "engine-cache fetch --cache /c --repository /r --repository https://host/r x --platform "
               "other.json"},
           Row{"engine-info --inspect x.so", "engine-info --inspect --platform m.json x.so"},
           Row{"engine-info --code EH-L01 explains more", "engine-info --code EH-L01 explains more"},
           Row{"let the other machine fetch it itself: engine-cache fetch",
               "let the other machine fetch it itself: engine-cache fetch"},
           Row{"there engine-cache quarantine show x shows why; engine-cache quarantine clear x",
               "there engine-cache quarantine show x shows why; engine-cache quarantine clear x"},
           Row{"nothing, while there is memory enough; engine-cache list",
               "nothing, while there is memory enough; engine-cache list --cache /c"},
           Row{"engine-cached files", "engine-cached files"},
           Row{"", ""},
       })
    EXPECT_EQ(with_given_flags(printed), wanted) << printed;
}

TEST_F(LocationFlagsTest, NameThePackageIndexWithoutItsPassword) {
  give({"reference", "--package-index", "https://me:secret@mirror.example/simple"});
  EXPECT_EQ(
      with_given_flags("engine-cache fetch x installs it; engine-cache list"),
      "engine-cache fetch --package-index https://mirror.example/simple x installs it; engine-cache list");
}

TEST_F(LocationFlagsTest, NameOnlyTheMachineThatWasDecidedFor) {
  give({"--platform", "a.json"});
  decides_for("b.json");
  decides_for("c.json");
  EXPECT_EQ(with_given_flags("engine-info x --plan --explain shows every build"),
            "engine-info --platform c.json x --plan --explain shows every build");
}

TEST_F(LocationFlagsTest, NameTheInstallationWhereAPlanIsMadeWithIt) {
  give({"reference", "--installation", "/env"});
  EXPECT_EQ(with_given_flags("engine-info x --plan --explain shows every build"),
            "engine-info --installation /env x --plan --explain shows every build");
  for (const std::string sentence :
       {"leave --installation out, and a published build is taken: engine-info x --plan --explain",
        "engine-info --installations shows what was found", "engine-cache list shows what is installed"})
    EXPECT_EQ(with_given_flags(sentence), sentence);
}

// Returns "engine-cache quarantine clear" for "engine-cache quarantine clear {build} ends it now".
std::string command_at(const std::string& text) {
  std::string command;
  std::size_t wanted = 2;
  for (const std::string& word : split(text, ' ')) {
    if (wanted == 0) break;
    --wanted;
    const std::string name = word.substr(0, word.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"));
    command += (command.empty() ? "" : " ") + name;
    if (name == "quarantine" || name == "licenses" || name == "trust") ++wanted;
  }
  return command;
}

// The flags of engine-info itself show whether it knows them, so that "engine-info" is a row of its own.
TEST_F(LocationFlagsTest, AreKnownToEveryCommandThatARemedyNames) {
  CLI::App app{"a test"};
  std::string cache, folder;
  app.add_option("--cache", cache);
  app.add_option("DIR", folder);
  app.parse(std::vector<std::string>{"/folder", "/c", "--cache"});
  note_given_flags(app);
  // Runs on the machine that has the builds, which is another one.
  const std::string elsewhere = "engine-cache export";
  int commands = 0;
  for (const explain::Entry& entry : explain::all())
    for (const std::string_view remedy : entry.remedies)
      for (const std::string_view program : {"engine-cache ", "engine-manifest "})
        for (std::size_t at = remedy.find(program); at != std::string_view::npos;
             at = remedy.find(program, at + 1)) {
          const std::string command = command_at(std::string(remedy.substr(at)));
          ++commands;
          if (command != elsewhere) {
            EXPECT_NE(with_given_flags(command), command) << text_of(entry.code) << ": " << remedy;
          }
        }
  EXPECT_GT(commands, 30);
}

TEST_F(LocationFlagsTest, AreQuotedForTheShell) {
  if (std::filesystem::path::preferred_separator == '\\')
    GTEST_SKIP() << "quoting of Windows is shell_word's";
  give({"--cache", "/a folder/it's", "--repository", "$(x)"});
  EXPECT_EQ(with_given_flags("engine-cache verify --repair"),
            "engine-cache verify --cache '/a folder/it'\\''s' --repository '$(x)' --repair");
}

TEST_F(LocationFlagsTest, AddNothingWhenNoneWereGiven) {
  give({"reference", "--offline"});
  EXPECT_EQ(with_given_flags("engine-info reference --plan --explain"),
            "engine-info reference --plan --explain");
}

TEST_F(LocationFlagsTest, AreInEveryRemedyOfADocumentAndNowhereElse) {
  give({"--cache", "/c"});
  const std::string command = "engine-cache list";
  const Json document =
      Json::object()
          .set("command", command)
          .set("candidates", Json::array().push(Json::object().set("remedy", Json::strings({command}))));
  EXPECT_EQ(document_with_given_flags(document).dump(),
            R"({"command":"engine-cache list","candidates":[{"remedy":["engine-cache list --cache /c"]}]})");
}

// Policy may forbid the flag itself; the command that shows the policy would then be refused as well.
TEST_F(LocationFlagsTest, AreNotRepeatedWherePolicyForbidsOne) {
  give({"reference", "--cache", "/c"});
  const Diagnosis refused =
      diagnose(Code::forbidden_by_policy).with(Key::flag, "--cache").with(Key::asked, "/c");
  EXPECT_NE(described(refused).find("engine-info --verbose shows the policy"), std::string::npos)
      << described(refused);
  const std::string document =
      document_with_given_flags(Json::object().set("diagnosis", explain::to_json(refused))).dump();
  EXPECT_NE(document.find("engine-info --verbose shows the policy"), std::string::npos) << document;
}

}  // namespace
}  // namespace enginehost::commands
