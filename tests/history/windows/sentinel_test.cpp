// Sentinels over Windows' locks.
#include "host/history/sentinel.hpp"

#include <gmock/gmock.h>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "host/history/program.hpp"

namespace enginehost::history {
namespace {

namespace fs = std::filesystem;

class WindowsSentinel : public testing::Test {
 protected:
  WindowsSentinel() : folder_(*make_private_folder(fs::temp_directory_path(), "enginehost-sentinel-")) {}
  ~WindowsSentinel() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::size_t files() const {
    std::size_t count = 0;
    std::error_code error;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ / "running", error)) ++count;
    return count;
  }
  fs::path folder_;
};

TEST_F(WindowsSentinel, OfALivingProcessIsNoCrash) {
  auto sentinel = Sentinel::raise(folder_, "build-1", "digest", "probe", "artifacts");
  ASSERT_TRUE(sentinel) << sentinel.error().value(Key::errno_);
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(sentinel->enter("load"));
  EXPECT_TRUE(collect_crashes(folder_).empty());
  sentinel->lower();
  EXPECT_EQ(files(), 0u);
}

TEST_F(WindowsSentinel, OfADeadProcessIsACrashReportedOnce) {
  std::string left;
  {
    auto sentinel = Sentinel::raise(folder_, "build-1", "digest", "load", "artifacts");
    ASSERT_TRUE(sentinel);
    for (const auto& entry : fs::directory_iterator(folder_ / "running")) {
      const auto bytes = read_file(entry.path());
      ASSERT_TRUE(bytes) << "a lock keeps nobody from reading";
      left = *bytes;
    }
  }
  EXPECT_EQ(files(), 0u);
  ASSERT_TRUE(write_file(folder_ / "running" / "digest.1.1.json", left, false));
  const auto crashes = collect_crashes(folder_);
  ASSERT_EQ(crashes.size(), 1u);
  EXPECT_EQ(crashes[0].build, "build-1");
  EXPECT_EQ(crashes[0].phase, "load");
  EXPECT_EQ(crashes[0].program, program_id());
  EXPECT_EQ(crashes[0].boot, boot_id());
  EXPECT_TRUE(collect_crashes(folder_).empty());
  EXPECT_EQ(files(), 0u);
}

TEST(WindowsProgram, IsItsPathAndItsImage) {
  EXPECT_TRUE(program_id().find("history_tests.exe ") != std::string::npos) << program_id();
  EXPECT_FALSE(boot_id().empty());
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace enginehost::history
