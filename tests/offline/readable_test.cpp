// File modes, on systems that have one for every user.
#include <sys/stat.h>

#include "cache/layer_trust.hpp"
#include "tests/offline/site.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

class Readable : public test::SiteTest {};

TEST_F(Readable, ASystemLayerIsReadableUnderAnyUmask) {
  const fs::path file = bundle();
  const mode_t before = ::umask(077);
  ImportRequest request;
  request.file = file;
  request.readable_by_all = true;
  const auto imported = import_bundle(store("system"), request);
  ::umask(before);
  ASSERT_TRUE(imported);
  const auto readable = [](const fs::path& path) {
    struct stat status {};
    const mode_t needed = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? 0055 : 0044;
    return (status.st_mode & needed) == needed;
  };
  const fs::path root = folder / "system";
  const cache::Installed& installed = imported->builds[0].installed;
  EXPECT_TRUE(readable(root) && readable(root / "views") && readable(root / "refs"));
  EXPECT_TRUE(readable(root / "refs/sample-1.ref"));
  // A user who removes builds must see the leases of others.
  EXPECT_TRUE(readable(root / "leases") && readable(root / "leases" / (installed.digest + ".lk")));
  for (const auto& entry : fs::recursive_directory_iterator(installed.folder))
    EXPECT_TRUE(entry.is_symlink() || readable(entry.path())) << entry.path();
  for (const std::string& tree : installed.trees) EXPECT_TRUE(readable(root / "lists" / tree));
}

TEST_F(Readable, ACacheIsWritableByItsOwnerOnlyUnderAnyUmask) {
  const fs::path file = bundle();
  const mode_t before = ::umask(0);
  ImportRequest request;
  request.file = file;
  request.readable_by_all = true;
  const auto imported = import_bundle(store("system"), request);
  ::umask(before);
  ASSERT_TRUE(imported);
  for (const auto& entry : fs::recursive_directory_iterator(folder / "system")) {
    if (entry.is_symlink()) continue;
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0022, 0u) << entry.path();
  }
  EXPECT_FALSE(cache::layer_problem(folder / "system"));
}

}  // namespace
}  // namespace enginehost::offline
