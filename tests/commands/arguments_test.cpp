// Identifies the wrong word of a command line.
#include "host/commands/arguments.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <vector>

namespace enginehost::commands {
namespace {

using testing::HasSubstr;

// A command like EngineHost's: its own flags, one with a value, subcommands, and some below one of these.
class ArgumentErrors : public testing::Test {
 protected:
  ArgumentErrors() {
    app_.name("engine-tool");
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.add_flag("--json");
    app_.add_option("--cache", text_);
    CLI::App* listing = app_.add_subcommand("list", "");
    listing->add_flag("--deep");
    CLI::App* setting = app_.add_subcommand("quarantine", "");
    setting->require_subcommand(1);
    setting->add_subcommand("show", "")->add_option("ID", text_);
  }
  Words words(std::vector<std::string> arguments) const {
    std::vector<char*> argv{nullptr};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    return words_of(app_, static_cast<int>(argv.size()), argv.data());
  }
  CLI::App app_;
  std::string text_;
};

TEST_F(ArgumentErrors, AFlagIsNoValueOfTheFlagBeforeIt) {
  const Words swallowed = words({"list", "--cache", "--json"});
  ASSERT_TRUE(swallowed.swallowed);
  EXPECT_THAT(*swallowed.swallowed, HasSubstr("--cache wants a value, and --json"));
  EXPECT_THAT(*swallowed.swallowed, HasSubstr("--cache=--json"));
  EXPECT_TRUE(words({"--cache", "--deep", "list"}).swallowed) << "of a subcommand";
  EXPECT_FALSE(words({"list", "--cache=--json"}).swallowed);
  EXPECT_FALSE(words({"list", "--cache", "--other"}).swallowed) << "a folder may have any other name";
  EXPECT_FALSE(words({"list", "--cache", "folder", "--json"}).swallowed);
  EXPECT_FALSE(words({"--json", "list"}).swallowed);
  EXPECT_FALSE(words({"--", "--cache", "--json"}).swallowed);
}

TEST_F(ArgumentErrors, AnUnknownWordIsNamedWithTheNearest) {
  EXPECT_EQ(words({"lst"}).unknown, "there is no subcommand lst; did you mean list?");
  EXPECT_EQ(words({"--jsn", "list"}).unknown, "there is no flag --jsn; did you mean --json?");
  EXPECT_EQ(words({"list", "--nonsense"}).unknown, "there is no flag --nonsense");
  EXPECT_EQ(words({"quarantine", "nosuch"}).unknown, "there is no subcommand nosuch: show");
  EXPECT_EQ(words({"--deep", "list"}).unknown, "--deep is a flag of engine-tool list: write it behind that");
  EXPECT_EQ(words({"--cache", "lst", "list", "--json"}).unknown, std::nullopt) << "a value";
  EXPECT_EQ(words({"quarantine", "show", "lst", "--json"}).unknown, std::nullopt) << "an argument";
}

TEST_F(ArgumentErrors, TheSubcommandIsReported) {
  EXPECT_EQ(words({"quarantine", "nosuch"}).command, "engine-tool quarantine");
  EXPECT_EQ(words({"--json", "quarantine", "show", "--nonsense"}).command, "engine-tool quarantine show");
  EXPECT_EQ(words({}).command, "engine-tool");
}

TEST_F(ArgumentErrors, ACommandWithoutArgumentsIsBare) {
  EXPECT_TRUE(words({}).bare);
  EXPECT_TRUE(words({"quarantine", "show"}).bare);
  EXPECT_TRUE(words({"quarantine", "show", "--cache", "folder"}).bare) << "a flag of all subcommands";
  EXPECT_FALSE(words({"quarantine", "show", "one"}).bare);
  EXPECT_FALSE(words({"list", "--deep"}).bare);
  EXPECT_FALSE(words({"nosuch"}).bare);
}

TEST_F(ArgumentErrors, HelpIsNoSubcommand) {
  EXPECT_EQ(words({"help"}).unknown, "help is no subcommand; engine-tool --help shows the help");
}

}  // namespace
}  // namespace enginehost::commands
