// Installations of other programs are recognized on Linux only; on Windows the diagnosis says so.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "host/installations/in_place.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::installations {
namespace {

TEST(InstallationsOnWindows, AreNotRecognizedWithAReason) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "torch\\lib\\torch_cpu.dll", "MZ");
  const auto found = identify(folder.path());
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, "EH-S30");
  EXPECT_EQ(found.error().value(Key::path), path_text(folder.path()));
  EXPECT_EQ(found.error().value(Key::problem), "only installations on Linux are recognized");
}

TEST(InstallationsOnWindows, AMissingFolderIsReportedFirst) {
  const test::TemporaryFolder folder;
  const auto found = identify(folder / "nowhere");
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, "EH-S30");
  EXPECT_EQ(found.error().value(Key::problem), "it does not exist");
}

}  // namespace
}  // namespace enginehost::installations
