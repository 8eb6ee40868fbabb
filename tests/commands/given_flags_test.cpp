// The flags that a printed command takes over from the one that failed.
#include "host/commands/given_flags.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "host/commands/info_flags.hpp"

namespace enginehost::commands {
namespace {

class GivenFlags : public testing::Test {
 protected:
  ~GivenFlags() override { give({}); }
  static void give(std::vector<std::string> arguments) {
    CLI::App app{"a test"};
    InfoFlags flags;
    add_flags(app, flags);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
    note_given_flags(app);
  }
};

TEST_F(GivenFlags, StandBehindTheNameOfEachCommandThatKnowsThem) {
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
           Row{"engine-cache quarantine show x tells why; engine-cache quarantine clear x tries again",
               "engine-cache quarantine show --cache /c x tells why; engine-cache quarantine clear --cache "
               "/c x tries "
               "again"},
           Row{"engine-cache trust add KEY --repository /other",
               "engine-cache trust add --cache /c KEY --repository /other"},
           Row{"engine-cache fetch x --platform other.json",
               "engine-cache fetch --cache /c --repository /r --repository https://host/r x --platform "
               "other.json"},
           Row{"engine-info --inspect x.so", "engine-info --inspect --platform m.json x.so"},
           Row{"engine-info --code EH-L01 tells more", "engine-info --code EH-L01 tells more"},
           Row{"let the other machine fetch it itself: engine-cache fetch",
               "let the other machine fetch it itself: engine-cache fetch"},
           Row{"there engine-cache quarantine show x", "there engine-cache quarantine show x"},
           Row{"engine-cached files", "engine-cached files"},
           Row{"", ""},
       })
    EXPECT_EQ(with_given_flags(printed), wanted) << printed;
}

TEST_F(GivenFlags, AreQuotedForTheShell) {
  if (std::filesystem::path::preferred_separator == '\\')
    GTEST_SKIP() << "quoting of Windows is shell_word's";
  give({"--cache", "/a folder/it's", "--repository", "$(x)"});
  EXPECT_EQ(with_given_flags("engine-cache verify --repair"),
            "engine-cache verify --cache '/a folder/it'\\''s' --repository '$(x)' --repair");
}

TEST_F(GivenFlags, ThatWereNotGivenAddNothing) {
  give({"reference", "--offline"});
  EXPECT_EQ(with_given_flags("engine-info reference --plan --explain"),
            "engine-info reference --plan --explain");
}

TEST_F(GivenFlags, AreInEveryRemedyOfADocumentAndNowhereElse) {
  give({"--cache", "/c"});
  const std::string command = "engine-cache list";
  const Json document =
      Json::object()
          .set("command", command)
          .set("candidates", Json::array().push(Json::object().set("remedy", Json::strings({command}))));
  EXPECT_EQ(document_with_given_flags(document).dump(),
            R"({"command":"engine-cache list","candidates":[{"remedy":["engine-cache list --cache /c"]}]})");
}

}  // namespace
}  // namespace enginehost::commands
