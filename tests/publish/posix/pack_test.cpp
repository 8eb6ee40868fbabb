#include <sys/stat.h>
#include <unistd.h>

#include "tests/publish/fixture.hpp"
#include "tools/publish/pack.hpp"

namespace enginehost::publish {
namespace {

// Runs as a user without rights, also where the tests run as root.
class Packing : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    write("toy/lib/libtoy.so", "toy");
    write("toy/share/words.txt", "words");
    fs::create_directory(folder() / "packed");
    fs::permissions(folder(), fs::perms(0755));
    fs::permissions(folder() / "packed", fs::perms(0777));
  }
  Result<void> pack() const {
    const uid_t self = ::geteuid();
    EXPECT_EQ(::seteuid(self == 0 ? 65534 : self), 0);
    auto packed = pack_folder(folder() / "toy", folder() / "packed/toy.tar.zst");
    EXPECT_EQ(::seteuid(self), 0);
    return packed;
  }
};

TEST_F(Packing, LeavesNoUnreadableFileOut) {
  fs::permissions(folder() / "toy/share", fs::perms::none);
  const auto packed = pack();
  fs::permissions(folder() / "toy/share", fs::perms(0755));
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, "EH-M17");
  EXPECT_EQ(packed.error().value(Key::folder), (folder() / "toy/share").native());
  EXPECT_EQ(packed.error().value(Key::problem), "it cannot be looked at: Permission denied");
  EXPECT_TRUE(pack());
}

TEST_F(Packing, NamesAFileThatCannotBeReadAndWhy) {
  fs::permissions(folder() / "toy/share/words.txt", fs::perms::none);
  const auto packed = pack();
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().code, "EH-F01");
  EXPECT_EQ(packed.error().value(Key::file), (folder() / "toy/share/words.txt").native());
  EXPECT_EQ(packed.error().value(Key::errno_), "EACCES");
}

TEST_F(PublisherTest, AnEntryThatIsNoFileIsNotCalledAbsent) {
  AddRequest strange = request();
  strange.file = folder() / "pipe";
  ASSERT_EQ(::mkfifo(strange.file.c_str(), 0600), 0);
  EXPECT_EQ(publish::add(workspace(), strange).error().value(Key::problem), "a named pipe, not a file");
  strange.file = "/dev/null";
  EXPECT_EQ(publish::add(workspace(), strange).error().value(Key::problem), "neither a file nor a folder");
  strange.file = folder() / "itself";
  fs::create_symlink("itself", strange.file);
  EXPECT_EQ(publish::add(workspace(), strange).error().value(Key::errno_), "ELOOP");
  strange.file = folder() / "absent";
  EXPECT_EQ(publish::add(workspace(), strange).error().value(Key::problem), "");
}

}  // namespace
}  // namespace enginehost::publish
