// Untrusted files: changed ones, files of other folders, files of an archive before its digest is known.
#ifndef _WIN32
#include <unistd.h>
#endif

#include <array>
#include <atomic>
#include <fstream>
#include <thread>

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
    ASSERT_TRUE(got) << got.error().code << " " << got.error().value(Key::problem);
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

// A mirror sends archives of another digest, each a few kilobytes for 50 MB. They are watched before the last
// byte.
class Bombs : public AcquireTest {
 protected:
  Bombs() { options.transfer.stall_limit = 10s; }
  std::uint64_t bytes_in_stage() const {
    std::uint64_t sum = 0;
    std::error_code error;
    for (auto it = fs::recursive_directory_iterator(folder / "cache/stage", error);
         !error && it != fs::recursive_directory_iterator(); it.increment(error))
      if (it->is_regular_file(error)) sum += it->file_size(error);
    return sum;
  }
  // Returns the most bytes that were unpacked before the digest could be compared.
  std::uint64_t unpacked_before_the_digest(const std::string& archive, const std::string& kind) {
    std::atomic<std::uint64_t> most = 0;
    test::FaultServer mirror([&](const auto& request, auto& to) {
      to.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(archive.size()) + "\r\n\r\n");
      if (request.method == "HEAD") return;
      to.send(std::string_view(archive).substr(0, archive.size() - 1));
      for (int time = 0; time < 20; ++time) {
        std::this_thread::sleep_for(20ms);
        most = std::max(most.load(), bytes_in_stage());
      }
      to.send(std::string_view(archive).substr(archive.size() - 1));
    });
    const auto files = artifact().files;
    offer(archive, kind);
    artifact().files = files;
    artifact().sha256 = sha256_hex("another archive of this size");
    artifact().sources = {SampleBuild::url(mirror.url("runtime"))};
    EXPECT_EQ(code(), "EH-N08") << kind;
    expect_nothing_visible();
    EXPECT_EQ(bytes_in_stage(), 0u) << "removed after the failure";
    EXPECT_TRUE(fs::is_empty(folder / "cache/partial")) << kind;
    return most;
  }
  const std::string zeros = std::string(50'000'000, '\0');
  static constexpr std::array kinds{"tar.gz", "tar.xz", "tar.zst", "zip"};
};

TEST_F(Bombs, NothingIsUnpackedBeforeTheDigestUnlessFilesAreNamed) {
  for (const char* kind : kinds) {
    offer("", kind);
    EXPECT_EQ(unpacked_before_the_digest(test::make_archive(kind, {{"lib/bomb", zeros}}), kind), 0u) << kind;
    std::vector<test::ArchiveEntry> many;
    for (int i = 0; i < 5000; ++i) many.push_back({"lib/" + std::to_string(i), "x"});
    EXPECT_EQ(unpacked_before_the_digest(test::make_archive(kind, many), kind), 0u) << kind;
  }
}

TEST_F(Bombs, NamedFilesBoundWhatIsUnpackedBeforeTheDigest) {
  for (const char* kind : kinds) {
    offer("", kind);
    artifact().files = {{cache::TreeEntry::Kind::file, 100'000, "lib/bomb", std::string(64, 'a')}};
    EXPECT_LE(unpacked_before_the_digest(test::make_archive(kind, {{"lib/bomb", zeros}}), kind), 100'000u)
        << kind;
  }
}

// The digest of a license's text, and of a file that is repaired, can only be compared once it is there.
TEST_F(Bombs, ASingleFileIsBoundedByWhatIsAskedFor) {
  offer(test::make_archive("zip", {{"LICENSE", zeros}, {"lib/data.txt", "data"}}));
  const auto text =
      file_of_component(*sample.build, sample.runtime(), "LICENSE", folder / "scratch", options);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, "EH-F19");
  EXPECT_EQ(text.error().value(Key::limit), std::to_string(4u << 20));
  std::uint64_t left = 0;
  for (const auto& file : fs::recursive_directory_iterator(folder / "scratch"))
    if (file.is_regular_file()) left += file.file_size();
  EXPECT_LE(left, 4u << 20);
  options.download_limit = 1000;
  artifact().size.reset();
  const auto large =
      file_of_component(*sample.build, sample.runtime(), "LICENSE", folder / "scratch", options);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, "EH-N07") << "a file of unknown size";
}

TEST_F(Bombs, ARepairIsBoundedByTheFilesThatAreMissing) {
  offer(test::make_archive("zip", {{"lib/data.txt", "data"}}));
  ASSERT_EQ(code(), "ok");
  const cache::Installed installed = **store.find(sample.build->id);
  const auto damage = [&] {
    fs::remove(installed.folder / "lib/data.txt");
    fs::remove(store.root() / "trees" / installed.trees[1] / "lib/data.txt");
  };
  for (const auto& entries :
       std::vector<std::vector<test::ArchiveEntry>>{{{"lib/data.txt", zeros}}, {{"lib/data.txt", "datum"}}}) {
    damage();
    const std::string archive = test::make_archive("zip", entries);
    test::write_text(server.root() / "runtime", archive);
    artifact().size = archive.size();
    const auto repaired = repair(sample.build->id, sample.build.get(), store, options);
    ASSERT_TRUE(repaired);
    EXPECT_EQ(repaired->left.size(), 1u);
    ASSERT_EQ(repaired->not_fetched.size(), 1u);
    EXPECT_EQ(repaired->not_fetched[0].code, "EH-F19");
    EXPECT_EQ(repaired->not_fetched[0].value(Key::limit), "4");
  }
}

}  // namespace
}  // namespace enginehost::acquire
