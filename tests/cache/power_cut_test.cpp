// Row 4 of the fault plan: the power is cut while builds are installed. A file system in an image is mounted,
// and the image is copied at random moments: the copy holds what had reached the disk by then, as after a
// power cut (the disk's own cache is not modeled). Needs root, loop devices and mkfs; skipped with the reason
// elsewhere.
//
// The copy has to be of one moment. When an image of xfs was read from front to back while it changed, its
// log once had the name of a file, and the copy had old content in the place of its bytes, although these
// reach the disk first. So the images are on an xfs of their own, which shares blocks: a clone is made while
// no write is in progress.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "cache/check.hpp"
#include "cache/store.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

extern char** environ;

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

bool run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  const auto outcome = run_child(request);
  return outcome && outcome->succeeded();
}

bool make_image(const fs::path& file, off_t size) {
  const FileDescriptor made(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  return made.valid() && ::ftruncate(made.get(), size) == 0;
}

class PowerCuts : public testing::TestWithParam<const char*> {
 protected:
  test::TemporaryFolder folder;
  fs::path volume = folder / "volume", mounted = folder / "mounted", after = folder / "after";
  fs::path image = folder / "image";
  bool has_volume = false, is_mounted = false;

  static std::vector<std::string> making(const std::string& kind, const fs::path& file) {
    if (kind == "ext4") return {"mkfs.ext4", "-q", "-F", file.native()};
    if (kind == "xfs") return {"mkfs.xfs", "-q", "-f", file.native()};
    return {"mkfs.btrfs", "-q", "-f", file.native()};
  }
  // The file system on which blocks can be shared.
  void mount_volume() {
    fs::create_directory(volume);
    ASSERT_TRUE(make_image(folder / "volume.image", off_t{4} << 30));
    has_volume = run({"mkfs.xfs", "-q", "-f", "-m", "reflink=1", folder / "volume.image"}) &&
                 run({"mount", "-o", "loop", folder / "volume.image", volume.native()});
    if (has_volume) image = volume / "image";
  }
  // The image as of one moment.
  bool snapshot(const fs::path& copy) const {
    const FileDescriptor from(::open(image.c_str(), O_RDONLY | O_CLOEXEC)),
        to(::open(copy.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (::ioctl(to.get(), FICLONE, from.get()) == 0) return true;
    // Two copies that agree: nothing was written between the end of the first and the beginning of the
    // second.
    const fs::path second = copy.native() + ".again";
    bool same = false;
    for (int attempt = 0; attempt < 100 && !same; ++attempt) {
      for (const fs::path& one : {copy, second})
        if (!run({"cp", "--sparse=always", image.native(), one.native()})) return false;
      same = run({"cmp", "-s", copy.native(), second.native()});
    }
    fs::remove(second);
    return same;
  }
  // The copy has the UUID of the file system that is still mounted. xfs refuses it without an option; btrfs
  // assigns its own since Linux 6.7 and refuses it before.
  bool mount_copy(const fs::path& copy) const {
    const bool is_xfs = std::string_view(GetParam()) == "xfs";
    return run({"mount", "-o", is_xfs ? "loop,nouuid" : "loop", copy.native(), after.native()});
  }
  void SetUp() override {
    const std::string kind = GetParam();
    fs::create_directory(mounted);
    fs::create_directory(after);
    mount_volume();
    ASSERT_TRUE(make_image(image, off_t{kind == "ext4" ? 64 : 320} << 20));
    if (!run(making(kind, image))) GTEST_SKIP() << "mkfs." << kind << " is not installed";
    is_mounted = run({"mount", "-o", "loop", image.native(), mounted.native()});
    if (!is_mounted) GTEST_SKIP() << "an image of " << kind << " cannot be mounted here";
    const fs::path copy = image.native() + ".copy";
    ASSERT_TRUE(snapshot(copy));
    if (!mount_copy(copy)) GTEST_SKIP() << "a copy of " << kind << " cannot be mounted beside it here";
    ASSERT_TRUE(is_unmounted(after));
    fs::remove(copy);
  }
  void TearDown() override {
    EXPECT_TRUE(!is_mounted || is_unmounted(mounted));
    EXPECT_TRUE(!has_volume || is_unmounted(volume));
  }
  // The kernel releases a loop device's file a moment after its file system was unmounted.
  static bool is_unmounted(const fs::path& point) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      if (run({"umount", point.native()})) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  // Mounts a copy of the image, as the machine would find its disk at the next start.
  void expect_sound_after_a_cut(int round) {
    const fs::path copy = image.native() + std::to_string(round);
    ASSERT_TRUE(snapshot(copy));
    ASSERT_TRUE(mount_copy(copy)) << round;
    const fs::path root = after / "cache";
    const auto violations = check(root);
    EXPECT_TRUE(violations);
    if (violations)
      for (const Violation& violation : *violations)
        ADD_FAILURE() << "cut " << round << ": " << violation.invariant << " " << violation.build << " "
                      << name_of(violation.problem.kind) << " " << violation.problem.path;
    const Store store = Store::open(root, {}, "power_cut_test");
    // Every earlier round ended before, so its build was reported as installed.
    EXPECT_GE(store.list().size(), static_cast<std::size_t>(round)) << "what was installed stays";
    installed_before += store.list().size();
    EXPECT_TRUE(test::install_small_build(store, "next")) << "the next run succeeds";
    EXPECT_TRUE(store.sweep());
    CheckOptions at_rest;
    at_rest.at_rest = true;
    const auto left = check(root, at_rest);
    EXPECT_TRUE(left && left->empty()) << "cut " << round;
    EXPECT_TRUE(is_unmounted(after));
    fs::remove(copy);
  }

  std::size_t installed_before = 0;
};

TEST_P(PowerCuts, AnInstalledBuildIsWholeOrAbsentAndTheNextRunSucceeds) {
  const int cuts = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr ? 40 : 4;
  std::mt19937 random(20261121);
  const std::string root = (mounted / "cache").native();
  int builds = 0;
  for (int round = 0; round < cuts; ++round) {
    std::string program = test::build_path("/tests/cache_install_child"),
                build = "b" + std::to_string(builds++);
    char* argv[] = {program.data(), const_cast<char*>(root.c_str()), build.data(), nullptr};
    pid_t process = -1;
    ASSERT_EQ(::posix_spawn(&process, argv[0], nullptr, nullptr, argv, environ), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(std::uniform_int_distribution<int>(0, 60)(random)));
    // Another process that syncs its own file makes the file system write its journal.
    if (round % 2 == 1) {
      const FileDescriptor open_engine(
          ::open((mounted / "neighbor").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      EXPECT_EQ(::write(open_engine.get(), "x", 1), 1);
      ::fsync(open_engine.get());
    }
    expect_sound_after_a_cut(round);
    int status = -1;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0) << "the machine that was not cut goes on";
    if (HasFailure()) return;
  }
  EXPECT_GT(installed_before, 0u) << "some cuts came after a build was installed";
  std::printf("[          ] %s: %d cuts, %zu builds found whole\n", GetParam(), cuts, installed_before);
}

INSTANTIATE_TEST_SUITE_P(On, PowerCuts, testing::Values("ext4", "xfs", "btrfs"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace enginehost::cache
