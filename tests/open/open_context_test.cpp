// The parts of a request that are gathered late, and the warnings about those that cannot be kept.
#include <algorithm>

#include "base/files.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

// A full disk cannot be simulated for root; a file in the place of the folder has the same effect.
TEST_F(LoadOrder, ReportsARecordThatCannotBeKeptBesideOtherWarnings) {
  ASSERT_EQ(open().state, State::opened);
  fs::remove_all(state() / "history");
  test::write_text(state() / "history", "in the way");
  OpenContext context(settings());
  context.warn("something else");
  history::Record record;
  record.build = "reference-good";
  record.state = history::State::unfit;
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(context.remember(record));
  const auto all = context.warnings();
  EXPECT_EQ(std::ranges::count_if(all,
                                  [](const std::string& text) {
                                    return text.starts_with("the record of reference-good cannot be kept: ");
                                  }),
            1)
      << "once";
}

// The settings are read only after an engine is open; by then the file may be damaged.
TEST(LateSettings, UnreadableOnesAllowNoDownload) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "config.json", "{ this is no document");
  OpenContext context(
      OpenContext::Places{folder / "cache", folder / "cache/state/here", {}},
      [&]() -> Result<settings::Settings> {
        TRY_ASSIGN(const std::string text, read_file(folder / "config.json", 4096));
        TRY(parse_json(text, "config.json").map([](const Json&) {}));
        return settings::Settings();
      },
      std::nullopt);
  EXPECT_TRUE(context.transfer_options().offline);
  EXPECT_FALSE(context.settings().warnings.empty());
}

}  // namespace
}  // namespace enginehost::open
