// A record that cannot be read for a moment is not treated as absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "host/history/store.hpp"
#include "tests/history/folder.hpp"

namespace enginehost::history {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TransientFailures : public testing::Test {
 protected:
  void SetUp() override {
    Record record;
    record.build = "b";
    record.state = State::disabled;
    ASSERT_TRUE(write(folder.path, record));
  }
  Folder folder;
};

TEST_F(TransientFailures, WithoutAFreeDescriptorNothingIsKnown) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const ReadResult result = read(folder.path, 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "EH-F24");
  EXPECT_EQ(result.failure->value(Key::folder), (folder.path / "history").native());
  EXPECT_FALSE(read(folder.path, 0).failure);
}

// The first byte of this kernel file cannot be read.
TEST_F(TransientFailures, ARecordThatCannotBeReadIsNeitherAbsentNorDamaged) {
  const std::filesystem::path record = folder.path / "history/b.json", failing = "/proc/self/mem";
  if (!std::filesystem::exists(failing)) GTEST_SKIP() << "no file whose reading fails";
  std::filesystem::remove(record);
  std::filesystem::create_symlink(failing, record);
  const ReadResult result = read(folder.path, 0);
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->code, "EH-F23");
  EXPECT_EQ(result.failure->value(Key::file), record.native());
  EXPECT_EQ(result.failure->value(Key::errno_), "EIO");
  EXPECT_THAT(result.unreadable, ElementsAre("b"));
  EXPECT_THAT(result.warnings, ElementsAre(HasSubstr(record.native() + " cannot be read now")));
  ReadResult own;
  add_quarantined(own, read(folder.path, 0));
  EXPECT_TRUE(own.failure) << "nor where records are only read";
}

}  // namespace
}  // namespace enginehost::history
