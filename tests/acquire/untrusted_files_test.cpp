// Untrusted files: changed ones, files of other folders, files of an archive before its digest is known.
#ifndef _WIN32
#include <unistd.h>
#endif

#include <fstream>

#include "tests/acquire/acquire_fixture.hpp"
#include "tests/support/links.hpp"

namespace enginehost::acquire {
namespace {

// A byte that was changed with the file's time set back.
TEST_F(AcquireTest, HashingFindsAndRepairsAChangeThatStampsDoNotShow) {
  namespace fs = std::filesystem;
  offer(test::make_archive("zip", {{"lib/a", test::noise(10'000)}}));
  ASSERT_EQ(problem(), "ok");
  const fs::path file = store.find(sample.build->id).value()->folder / "lib/a";
  const auto change = [&] {
    const auto time = fs::last_write_time(file);
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(5000);
    bytes.put('!');
    bytes.close();
    fs::permissions(file, fs::perms::owner_write, fs::perm_options::remove);
    fs::last_write_time(file, time);
  };
  change();
  ASSERT_EQ(problem(), "ok") << "stamps alone do not show it";
  EXPECT_NE(installed_text("lib/a"), test::noise(10'000));
  for (const std::uint64_t bytes : {std::uint64_t{32u << 20}, UINT64_MAX}) {
    change();
    options.hash_bytes = bytes;
    EXPECT_EQ(problem(), "ok");
    EXPECT_EQ(installed_text("lib/a"), test::noise(10'000)) << bytes;
  }
}

// The publisher made other files for a build under the same id.
TEST_F(AcquireTest, ALayersOlderBuildOfTheSameIdDoesNotStandInTheWay) {
  offer(test::make_archive("zip", {{"lib/a", "old"}}));
  const cache::Store layer = cache::Store::open(folder / "layer", {}, "acquire_test");
  ASSERT_TRUE(acquire(*sample.build, layer, options, progress, cancel));
  store = cache::Store::open(folder / "cache", {folder / "layer"}, "acquire_test");
  auto got = get();
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->installed.read_only);
  offer(test::make_archive("zip", {{"lib/a", "new"}}));
  for (int time = 0; time < 2; ++time) {
    got = get();
    ASSERT_TRUE(got) << got.error().code << " " << got.error().value("problem");
    EXPECT_FALSE(got->installed.read_only);
    EXPECT_EQ(test::read_text(got->installed.folder / "lib/a"), "new");
  }
  EXPECT_EQ(got->downloaded, 0u) << "the second time it is installed";
}

// A manifest that could name any file would copy it into the cache, or give away its digest.
TEST_F(AcquireTest, N14AFileOutsideOfItsRepositoryIsNotRead) {
  namespace fs = std::filesystem;
  const std::string archive = test::make_archive("zip", {{"lib/a", "a"}});
  offer(archive);
  const fs::path secret = folder.path() / "secret";
  test::write_text(secret / "private.zip", archive);
  const fs::path repository = path_of(sample.manifest->repository);
  fs::create_directory_symlink(secret, repository / "link");
  const std::string out = secret.lexically_relative(repository).generic_string();
  for (const std::string& where :
       {out + "/private.zip", "files/../" + out + "/private.zip", std::string("link/private.zip")}) {
    artifact().sources = {test::SampleBuild::file(where)};
    EXPECT_EQ(code(), "EH-N14") << where;
  }
}

#ifndef _WIN32
// Another user could otherwise name a file that only this user may read.
TEST_F(AcquireTest, N14AnAbsolutePathCountsOnlyInAFolderOfThisUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives a folder to another user";
  const std::string archive = test::make_archive("zip", {{"lib/a", "a"}});
  offer(archive);
  test::write_text(folder / "private.zip", archive);
  artifact().sources = {test::SampleBuild::file((folder / "private.zip").native())};
  EXPECT_EQ(code(), "ok");
  ASSERT_TRUE(store.remove(sample.build->id));
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::chown(sample.manifest->repository.c_str(), nobody, nobody), 0);
  EXPECT_EQ(code(), "EH-N14");
}
#endif

// Bytes are unpacked before their digest is known.
TEST_F(AcquireTest, TheFilesOfTheManifestBoundWhatIsUnpacked) {
  for (const char* kind : {"tar.gz", "zip"}) {
    offer(test::make_archive(kind, {{"bomb", std::string(5'000'000, '\0')}}), kind);
    artifact().files = {{cache::TreeEntry::Kind::file, 1000, "bomb", std::string(64, 'a')}};
    EXPECT_EQ(problem(), "EH-F19: unpacks to more than is allowed") << kind;
    offer(test::make_archive(kind, {{"one", "1"}, {"two", "2"}, {"three", "3"}}), kind);
    artifact().files = {{cache::TreeEntry::Kind::file, 1000, "one", std::string(64, 'a')}};
    EXPECT_EQ(code(), "EH-F19") << "too many files: " << kind;
  }
}

}  // namespace
}  // namespace enginehost::acquire
