// The layout of help texts. Those of the real commands are read in end-to-end/help_test.cpp.
#include "host/commands/help.hpp"

#include <gmock/gmock.h>

#include <CLI/CLI.hpp>
#include <sstream>

namespace enginehost::commands {
namespace {

using testing::HasSubstr;
using testing::Not;

class Help : public testing::Test {
 protected:
  Help() {
    app_.name("engine-cache");
    app_.require_subcommand(1);
    app_.add_flag("--json")->description("print exactly one JSON document")->group("Output");
    app_.add_option("--cache", text_, "the cache folder [env: ENGINEHOST_CACHE]")->type_name("DIR");
    pin_ = app_.add_subcommand("pin", "keep a build from being removed by gc");
    pin_->add_option("ID", text_, "the build")->required();
    pin_->add_option("--size", number_, "a number of bytes")->check(CLI::Range(1, 9))->type_name("N");
  }
  CLI::App app_{"fetch and list engine builds"};
  CLI::App* pin_ = nullptr;
  std::string text_;
  int number_ = 0;
};

TEST_F(Help, HasUsageSentenceExamplesAndPage) {
  const std::string text = help_of(*pin_, 80);
  EXPECT_THAT(
      text, testing::StartsWith("Usage: engine-cache pin ID [OPTIONS]\n\n"
                                "Keep a build from being removed by gc.\n\nExamples:\n  engine-cache pin "));
  EXPECT_THAT(text, HasSubstr("\nArguments:\n  ID "));
  EXPECT_THAT(text, HasSubstr("  --size N "));
  EXPECT_THAT(text, HasSubstr("-h, --help"));
  EXPECT_THAT(text, HasSubstr("The flags of every subcommand: engine-cache --help\n"));
  EXPECT_THAT(text, testing::EndsWith("storage.md\n"));
  EXPECT_THAT(text, HasSubstr("\ndocs: "));
}

TEST_F(Help, ListsSubcommandsAndGroups) {
  const std::string text = help_of(app_, 80);
  EXPECT_THAT(text, testing::StartsWith("Usage: engine-cache SUBCOMMAND [OPTIONS]\n"));
  EXPECT_THAT(text, HasSubstr("\nSubcommands:\n  pin  keep a build from being removed by gc\n"));
  EXPECT_THAT(text, HasSubstr("\nOutput:\n  --json  print exactly one JSON document\n"));
  EXPECT_THAT(text, HasSubstr("--cache DIR"));
  EXPECT_THAT(text, HasSubstr("[env: ENGINEHOST_CACHE]"));
}

TEST_F(Help, FitsTheWidth) {
  for (const std::size_t columns : {40u, 60u, 80u, 120u})
    for (const CLI::App* command :
         {static_cast<const CLI::App*>(&app_), static_cast<const CLI::App*>(pin_)}) {
      std::istringstream lines(help_of(*command, columns));
      for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("  engine-cache") && !line.starts_with("docs: ")) {
          EXPECT_LE(line.size(), columns) << line;
        }
    }
}

TEST_F(Help, HasTextsForEachPublishedCommand) {
  for (const char* command :
       {"engine-info", "engine-cache list", "engine-cache fetch", "engine-cache import"}) {
    const HelpText* text = help_text_of(command);
    ASSERT_NE(text, nullptr) << command;
    EXPECT_GE(text->examples.size(), 2u);
  }
  EXPECT_EQ(help_text_of("engine-cache polish"), nullptr);
  add_help_texts({{"engine-cache polish", {{"engine-cache polish", "make it shine"}}, "storage.md"}});
  ASSERT_NE(help_text_of("engine-cache polish"), nullptr) << "a program added it";
  EXPECT_EQ(help_text_of("engine-cache polish")->page, "storage.md");
}

}  // namespace
}  // namespace enginehost::commands
