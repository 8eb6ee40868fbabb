// docs/settings.md names every key and every variable that the code reads.
#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "base/text.hpp"
#include "tests/settings/fixture.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::settings {
namespace {

std::string text_of(const std::string& file) {
  const auto text = read_file(test::source_path("/") + file);
  EXPECT_TRUE(text) << file;
  return text ? *text : "";
}

std::set<std::string> found_in(const std::string& text, const char* pattern) {
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.insert((*at)[1]);
  return found;
}

// Returns the value and the default in the row of a key; a row may name several keys.
std::pair<std::string, std::string> row_of(const std::string& page, const std::string& key) {
  std::smatch row;
  const std::regex expression("\n\\| [^|\n]*`" + key + "`[^|\n]* \\| ([^|\n]+) \\| ([^|\n]+) \\|");
  EXPECT_TRUE(std::regex_search(page, row, expression)) << key << " has no row in docs/settings.md";
  return {row[1], row[2]};
}

std::string number_in_page(std::int64_t number) {
  return number == std::int64_t{1} << 50 ? "2^50" : std::to_string(number);
}

TEST(SettingsPage, HasARowForEachKey) {
  const std::string page = text_of("docs/settings.md");
  const std::string keys = page.substr(page.find("## Keys of the configuration file"));
  for (const Declaration& setting : declarations) {
    if (!setting.rules.in_files) continue;
    const auto [value, usual] = row_of(keys, setting.key);
    if (setting.member.kind == Kind::number)
      EXPECT_THAT(value, testing::StartsWith(number_in_page(setting.rules.least) + " to " +
                                             number_in_page(setting.rules.most)))
          << setting.key;
    for (const std::string& choice :
         split(setting.rules.choices != nullptr ? setting.rules.choices : "", ','))
      if (!choice.empty()) EXPECT_THAT(value, testing::HasSubstr("`" + std::string(trim(choice)) + "`"));
    const Json stored = setting.member.stored(DeclaredSettings());
    if (stored.is_bool() || setting.rules.choices != nullptr)
      EXPECT_EQ(usual, "`" + settings::text_of(stored) + "`") << setting.key;
    if (stored.is_integer() && stored.as_integer() != 0) EXPECT_EQ(usual, stored.dump()) << setting.key;
  }
}

TEST(SettingsPage, NamesEveryOtherKeyThatIsRead) {
  const std::string page = text_of("docs/settings.md"), code = text_of("host/settings/config_file.cpp");
  const std::set<std::string> keys =
      found_in(code, "(?:members\\.(?:repositories|accepted_licenses|find|read)|texts)\\(\\{?\"([a-z_]+)\"");
  EXPECT_GE(keys.size(), 10u) << "the reader is written in another way";
  for (const std::string& key : keys) EXPECT_THAT(page, testing::HasSubstr("`" + key + "`")) << key;
  for (const std::string& most : found_in(code, "max_staleness_days[^;]*most = ([0-9]+)"))
    EXPECT_THAT(page, testing::HasSubstr("`max_staleness_days` | 0 to " + most + " |"));
}

TEST(SettingsPage, NamesEachFlag) {
  const std::string page = text_of("docs/settings.md");
  const std::string flags = page.substr(page.find("## Flags"));
  for (const Declaration& setting : declarations)
    if (setting.flag.help != nullptr)
      EXPECT_THAT(flags, testing::HasSubstr("`" + flag_of(setting.key) + "`"));
}

TEST(SettingsPage, NamesEveryVariableThatIsRead) {
  const std::string page = text_of("docs/settings.md");
  std::set<std::string> variables =
      found_in(text_of("host/settings/environment.cpp") + text_of("host/settings/settings.cpp"),
               "\"(ENGINEHOST_[A-Z_]*[A-Z])\"");
  for (const Declaration& setting : declarations)
    if (setting.rules.has_variable) variables.insert(variable_of(setting.key));
  EXPECT_GE(variables.size(), 10u);
  const std::string code = text_of("host/settings/settings.cpp");
  const std::size_t list = code.find("transfer_variables[]");
  ASSERT_NE(list, std::string::npos);
  variables.merge(found_in(code.substr(list, code.find(';', list) - list), "\"([A-Za-z_]+)\""));
  variables.merge(found_in(text_of("host/settings/posix/system.cpp"), "\"(XDG_[A-Z_]+)\""));
  for (const std::string& variable : variables)
    EXPECT_THAT(page, testing::HasSubstr("`" + variable + "`")) << variable;
}

}  // namespace
}  // namespace enginehost::settings
