// The help of each command and subcommand, and the commands that get no arguments.
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Command {
  std::string program;
  std::vector<std::string> path;  // of subcommands
  std::string name() const {
    std::string all = program;
    for (const std::string& one : path) all += " " + one;
    return all;
  }
};

std::string help_of(const Workplace& workplace, const Command& command) {
  std::vector<std::string> arguments = command.path;
  arguments.push_back("--help");
  const Ended run = workplace.run(command.program, arguments);
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.error, "");
  return run.output;
}

std::vector<std::string> lines_below(const std::string& text, const std::string& heading) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  bool inside = false;
  for (std::string line; std::getline(all, line);) {
    if (line.empty()) inside = false;
    if (inside) lines.push_back(line);
    if (line == heading) inside = true;
  }
  return lines;
}

void collect(const Workplace& workplace, const Command& command, std::vector<Command>& all) {
  all.push_back(command);
  static const std::regex name("^  ([a-z]+)  +.*");
  for (const std::string& line : lines_below(help_of(workplace, command), "Subcommands:"))
    if (std::smatch match; std::regex_match(line, match, name)) {
      Command below = command;
      below.path.push_back(match[1]);
      collect(workplace, below, all);
    }
}

std::vector<Command> commands(const Workplace& workplace) {
  std::vector<Command> all;
  for (const char* program : {"engine-info", "engine-run", "engine-cache", "engine-manifest"})
    collect(workplace, {program, {}}, all);
  return all;
}

TEST(HelpTexts, HaveUsageExamplesAndAPage) {
  const Workplace workplace;
  const std::vector<Command> all = commands(workplace);
  EXPECT_GT(all.size(), 30u);
  for (const Command& command : all) {
    const std::string text = help_of(workplace, command);
    EXPECT_THAT(text, StartsWith("Usage: " + command.name())) << text;
    EXPECT_THAT(text, HasSubstr(" [OPTIONS]\n\n"));
    std::size_t examples = 0;
    for (const std::string& line : lines_below(text, "Examples:"))
      examples += line.starts_with("   ") ? 0 : 1;
    EXPECT_GE(examples, 2u) << text;
    std::smatch page;
    ASSERT_TRUE(std::regex_search(text, page, std::regex("\ndocs: .*docs/([a-z-]+\\.md)\n$"))) << text;
    EXPECT_TRUE(std::filesystem::exists(source_path("/docs/" + page[1].str()))) << page[1];
  }
}

TEST(HelpTexts, NameTheKindOfEachValue) {
  const Workplace workplace;
  for (const Command& command : commands(workplace)) {
    const std::string text = help_of(workplace, command);
    EXPECT_FALSE(std::regex_search(text, std::regex("\\b(TEXT|INT|UINT|FLOAT|REQUIRED)\\b"))) << text;
  }
  const std::string info = help_of(workplace, {"engine-info", {}});
  EXPECT_THAT(info, HasSubstr("--flavor FLAVOR"));
  EXPECT_THAT(info, HasSubstr("[env: ENGINEHOST_FLAVOR]"));
}

TEST(HelpTexts, FitEightyColumns) {
  const Workplace workplace;
  for (const Command& command : commands(workplace)) {
    std::istringstream lines(help_of(workplace, command));
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("  engine-") && !line.starts_with("docs: "))
        EXPECT_LE(line.size(), 80u) << command.name() << ": " << line;
  }
}

TEST(HelpTexts, AreWrappedAtTheWidthOfTheTerminal) {
  const Workplace workplace;
  RunOptions narrow;
  narrow.launcher = on_a_terminal();
  narrow.launcher.insert(narrow.launcher.end(), {"sh", "-c", R"(stty cols 60 && exec "$@")", "sh"});
  const Ended run = workplace.run("engine-run", {"--help"}, narrow);
  EXPECT_EQ(run.status, 0) << run.said();
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("  engine-") && !line.starts_with("docs: "))
      EXPECT_LE(line.find_last_not_of('\r') + 1, 60u) << line;
}

TEST(HelpTexts, ArePrintedIfACommandGetsNoArguments) {
  const Workplace workplace;
  for (const Command& command : {Command{"engine-run", {}},
                                 {"engine-cache", {}},
                                 {"engine-manifest", {}},
                                 {"engine-cache", {"quarantine"}},
                                 {"engine-cache", {"pin"}},
                                 {"engine-cache", {"export"}},
                                 {"engine-cache", {"licenses", "accept"}},
                                 {"engine-manifest", {"sign"}}}) {
    const Ended run = workplace.run(command.program, command.path);
    EXPECT_EQ(run.status, 2) << run.said();
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(run.error, help_of(workplace, command)) << command.name();
    std::vector<std::string> arguments = command.path;
    arguments.push_back("--json");
    EXPECT_EQ(workplace.run(command.program, arguments).code(), "EH-P40") << command.name();
  }
}

TEST(HelpTexts, AreNamedForTheWordHelp) {
  const Workplace workplace;
  const Ended help = workplace.info({"help"});
  EXPECT_EQ(help.status, 3) << help.said();
  EXPECT_EQ(workplace.info({"help", "--json"}).code(), "EH-S02");
  EXPECT_THAT(help.error, HasSubstr("engine-info --help shows the help"));
  EXPECT_THAT(workplace.info({"list"}).error, HasSubstr("engine-cache list shows the installed builds"));
  EXPECT_THAT(workplace.run("engine-cache", {"help"}).error,
              HasSubstr("help is no subcommand; engine-cache --help shows the help"));
  EXPECT_THAT(workplace.run("engine-run", {"reference"}).error, Not(HasSubstr("Usage: ")));
}

// The program of a build with -DENGINEHOST_TOOLS=OFF.
TEST(HelpTexts, OfABuildWithoutToolsRefuseTheirSubcommands) {
  const Workplace workplace;
  const Command alone{"../tests/engine-cache-without-tools", {}};
  const std::string help = help_of(workplace, alone);
  EXPECT_THAT(help, HasSubstr("\n  import "));
  EXPECT_EQ(workplace.run(alone.program, {"list"}).status, 0);
  for (const std::string name : {"push", "export", "fulfil"}) {
    EXPECT_THAT(help, Not(HasSubstr("\n  " + name + " ")));
    const Ended refused = workplace.run(alone.program, {name, "lab.bundle", "mxnet", "--redistribute", "X"});
    EXPECT_EQ(refused.status, 2) << refused.said();
    EXPECT_THAT(refused.error, HasSubstr(name + " belongs to the tools of EngineHost"));
    EXPECT_THAT(refused.error,
                AllOf(HasSubstr("scripts/setup.sh --all"), HasSubstr("-DENGINEHOST_TOOLS=ON")));
  }
  const Command info{"../tests/engine-info-without-tools", {}};
  EXPECT_THAT(help_of(workplace, info), Not(HasSubstr("--bench")));
  const Ended refused = workplace.run(info.program, {"reference", "--bench"});
  EXPECT_EQ(refused.status, 2) << refused.said();
  EXPECT_THAT(refused.error, HasSubstr("--bench belongs to the tools of EngineHost, and this engine-info"));
  EXPECT_THAT(workplace.run(info.program, {"reference", "--from-index"}).error,
              HasSubstr("--from-index belongs to the tools of EngineHost, and this engine-info"));
  EXPECT_THAT(
      workplace.run("../tests/engine-run-without-tools", {"reference", "model", "--from-index"}).error,
      HasSubstr("--from-index belongs to the tools of EngineHost, and this engine-run"));
}

}  // namespace
}  // namespace enginehost::test
