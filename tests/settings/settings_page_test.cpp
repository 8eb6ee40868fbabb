// docs/settings.md names every key and every variable that the code reads.
#include <gmock/gmock.h>

#include <regex>
#include <set>

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

TEST(SettingsPage, NamesEveryKeyThatIsRead) {
  const std::string page = text_of("docs/settings.md"), code = text_of("host/settings/config_file.cpp");
  const std::set<std::string> keys =
      found_in(code,
               "members\\.(?:text|folder|flag|number|texts|repositories|mirrors|accepted_licenses|find)"
               "\\(\"([a-z_]+)\"");
  EXPECT_GT(keys.size(), 30u) << "the reader is written in another way";
  for (const char* key : {"repositories", "probe_deadline_seconds", "retries", "max_staleness_days"})
    EXPECT_TRUE(keys.contains(key)) << key;
  for (const std::string& key : keys)
    EXPECT_TRUE(std::regex_search(page, std::regex("`(downloads\\.)?" + key + "`"))) << key;
}

TEST(SettingsPage, NamesTheBoundsOfEachNumber) {
  const std::string page = text_of("docs/settings.md"), code = text_of("host/settings/config_file.cpp");
  const std::regex number("members\\.number\\(\"([a-z_]+)\", ([a-z0-9_]+), ([a-z0-9_]+),");
  int seen = 0;
  for (std::sregex_iterator at(code.begin(), code.end(), number), end; at != end; ++at, ++seen) {
    const std::string most = (*at)[3] == "most_bytes" ? "2\\^50"
                             : (*at)[3] == "one_hour" ? "3600"
                                                      : (*at)[3].str();
    EXPECT_TRUE(std::regex_search(
        page, std::regex("`(downloads\\.)?" + (*at)[1].str() + "`[ |(]+" + (*at)[2].str() + " to " + most)))
        << (*at)[1];
  }
  EXPECT_GE(seen, 8);
}

TEST(SettingsPage, NamesEveryVariableThatIsRead) {
  const std::string page = text_of("docs/settings.md");
  std::set<std::string> variables =
      found_in(text_of("host/settings/environment.cpp") + text_of("host/settings/settings.cpp"),
               "\"(ENGINEHOST_[A-Z_]*[A-Z])\"");
  EXPECT_GE(variables.size(), 10u);
  const std::string code = text_of("host/settings/settings.cpp");
  const std::size_t list = code.find("transfer_variables[]");
  ASSERT_NE(list, std::string::npos);
  variables.merge(found_in(code.substr(list, code.find(';', list) - list), "\"([A-Za-z_]+)\""));
  variables.merge(found_in(text_of("host/settings/posix/system_places.cpp"), "\"(XDG_[A-Z_]+)\""));
  for (const std::string& variable : variables)
    EXPECT_THAT(page, testing::HasSubstr("`" + variable + "`")) << variable;
}

}  // namespace
}  // namespace enginehost::settings
