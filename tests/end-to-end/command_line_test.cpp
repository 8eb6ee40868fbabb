// Reports about arguments that the commands cannot use, and the flags that the pages document.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

TEST(CommandLine, NamesTheNearestWordAndTheHelp) {
  const Workplace workplace;
  const auto said = [&](const std::string& command, const std::vector<std::string>& arguments) {
    return workplace.run(command, arguments).said();
  };
  EXPECT_THAT(said("engine-cache", {"lst"}), HasSubstr("there is no subcommand lst; did you mean list?"));
  EXPECT_THAT(said("engine-manifest", {"pulbish", "repository", "x"}), HasSubstr("did you mean publish?"));
  EXPECT_THAT(said("engine-run", {"--nonsense"}), HasSubstr("there is no flag --nonsense"));
  EXPECT_THAT(said("engine-cache", {"quarantine", "nosuch"}), HasSubstr("engine-cache quarantine --help"));
}

TEST(CommandLine, RefusesAThresholdBelow1BeforeReadingTheFolder) {
  const Workplace workplace;
  for (const char* flag : {"--root-threshold", "--index-threshold"})
    for (const char* value : {"0", "-1"})
      EXPECT_EQ(workplace
                    .run("engine-manifest",
                         {"sign", "/nonexistent", "--key", "/nonexistent", flag, value, "--json"})
                    .code(),
                "EH-P40")
          << flag << " " << value;
}

TEST(CommandLine, PrintsEachSentenceOnce) {
  const Workplace workplace;
  const auto said = [&](const std::string& command, const std::vector<std::string>& arguments) {
    return workplace.run(command, arguments).said();
  };
  const auto times = [](const std::string& text, const std::string& words) {
    int count = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
  };
  const std::string built = build_path("/share/enginehost/repository");
  const std::string folder = (workplace.folder() / "none").string();
  ASSERT_EQ(workplace.run("engine-manifest", {"init", folder, "--name", "x"}).status, 0);
  const std::string key = said("engine-manifest", {"sign", folder, "--key", "/nonexistent.key"});
  EXPECT_THAT(key, HasSubstr("/nonexistent.key cannot be read: No such file"));
  EXPECT_EQ(times(key, "cannot be read"), 1) << key;
  EXPECT_EQ(times(key, "begins with RW"), 0) << key;
  const std::string again = said("engine-manifest", {"init", folder, "--name", "x"});
  EXPECT_EQ(times(again, "choose another folder"), 1) << again;
  const auto text = workplace.folder() / "text.npy";
  write_text(text, "no array");
  const std::string array = said("engine-run", {"reference", "model", "--input", "points=" + text.string()});
  EXPECT_THAT(array, HasSubstr("EH-P30"));
  EXPECT_EQ(times(array, "remedy"), 0) << array;
  write_text(workplace.folder() / "text.bundle", "no bundle");
  const std::string bundle = said("engine-cache", {"import", (workplace.folder() / "text.bundle").string()});
  EXPECT_EQ(times(bundle, "again from where it was exported"), 1) << bundle;
  const std::string closed = said("engine-info", {"reference", "--cache", "/proc/x", "--repository", built});
  EXPECT_THAT(closed, HasSubstr("--cache or ENGINEHOST_CACHE"));
  EXPECT_EQ(times(closed, "fetch ENGINE"), 0) << closed;
  const std::string push = said("engine-cache", {"push", "--help"});
  EXPECT_EQ(times(push, "x 2") + times(push, "(2x)"), 0) << push;
}

TEST(CommandLine, RefusesTwoArraysForOneInput) {
  const Workplace workplace;
  const std::string array = (workplace.folder() / "points.npy").string();
  write_array(array, "(1, 2)", {1, 2});
  const std::string repository = build_path("/share/enginehost/repository");
  const std::string model = source_path("/examples/two-layers.model");
  const Ended ports = workplace.run("engine-run", {"reference", model, "--repository", repository, "--json"});
  const std::string input = ports.document["model"]["inputs"].as_array().at(0)["name"].as_string();
  const Ended run =
      workplace.run("engine-run", {"reference", model, "--repository", repository, "--input",
                                   input + "=" + array, "--input", input + "=" + array, "--json"});
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P40") << run.said();
  EXPECT_THAT(run.said(), HasSubstr("--input: two tensors are given for the input " + input));
}

// The flags of each command and subcommand, as its help names them.
std::set<std::string> flags_of(const Workplace& workplace, const std::string& command,
                               const std::vector<std::string>& path, int depth = 0) {
  std::vector<std::string> arguments = path;
  arguments.insert(arguments.end(), {"--help", "--json"});
  const std::string help = workplace.run(command, arguments).document["help"].as_string();
  EXPECT_THAT(help, HasSubstr("Usage: ")) << command;
  std::set<std::string> flags;
  static const std::regex flag("(^|[ ,])(--[a-z][a-z-]+)"), below("^  ([a-z]+)  +");
  for (std::sregex_iterator at(help.begin(), help.end(), flag), end; at != end; ++at) flags.insert((*at)[2]);
  const std::size_t subcommands = help.find("Subcommands:");
  if (subcommands == std::string::npos || depth == 2) return flags;
  std::istringstream lines(help.substr(subcommands));
  for (std::string line; std::getline(lines, line);)
    if (std::smatch match; std::regex_search(line, match, below)) {
      std::vector<std::string> deeper = path;
      deeper.push_back(match[1]);
      flags.merge(flags_of(workplace, command, deeper, depth + 1));
    }
  return flags;
}

TEST(CommandLine, EveryFlagIsInAPage) {
  const Workplace workplace;
  std::string pages = read_text(source_path("/README.md"));
  for (const auto& file : std::filesystem::directory_iterator(source_path("/docs")))
    if (file.path().extension() == ".md" && file.path().filename() != "failures.md")
      pages += read_text(file.path());
  int seen = 0;
  for (const char* command : {"engine-info", "engine-run", "engine-cache", "engine-manifest"})
    for (const std::string& flag : flags_of(workplace, command, {})) {
      ++seen;
      EXPECT_TRUE(std::regex_search(pages, std::regex(flag + "($|[^a-z-])")))
          << command << " " << flag << " stands in no page";
    }
  EXPECT_GT(seen, 60);
}

// People type the commands of remedies, with their flags.
TEST(CommandLine, RemediesNameFlagsThatTheirCommandHas) {
  const Workplace workplace;
  const std::string page = read_text(source_path("/docs/failures.md"));
  static const std::regex named(R"((engine-(?:info|run|cache|manifest))((?: (?:[a-z]+|[A-Z]+|--[a-z-]+))+))"),
      flag(R"(--[a-z-]+)");
  std::map<std::string, std::set<std::string>> known;
  int seen = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), named), end; at != end; ++at) {
    const std::string command = (*at)[1], rest = (*at)[2];
    for (std::sregex_iterator one(rest.begin(), rest.end(), flag); one != end; ++one) {
      auto& flags = known[command];
      if (flags.empty()) flags = flags_of(workplace, command, {});
      EXPECT_TRUE(flags.contains(one->str())) << at->str();
      ++seen;
    }
  }
  EXPECT_GT(seen, 40);
}

}  // namespace
}  // namespace enginehost::test
