// Row 10 of the fault plan: every kind of damage at every place of a build is found, reported and repaired.
#include "cache/store.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "base/files.hpp"
#include "cache/check.hpp"
#include "tests/cache/small_build.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

namespace fs = std::filesystem;

void edit(const fs::path& file, const std::function<void(int)>& change) {
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  const FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(opened.valid());
  change(opened.get());
  ASSERT_EQ(::chmod(file.c_str(), status.st_mode & 07777), 0);
}

struct Damage {
  const char* name;
  std::function<void(const fs::path&)> apply;
  const char* reported;
};

const std::vector<Damage> damages{
    {"BitFlip",
     [](const fs::path& file) {
       edit(file, [](int opened) {
         char byte = 0;
         ASSERT_EQ(::pread(opened, &byte, 1, 3), 1);
         byte = static_cast<char>(byte ^ 1);
         ASSERT_EQ(::pwrite(opened, &byte, 1, 3), 1);
       });
     },
     "wrong bytes"},
    {"Truncation",
     [](const fs::path& file) { edit(file, [](int opened) { ASSERT_EQ(::ftruncate(opened, 4), 0); }); },
     "truncated"},
    {"Emptied",
     [](const fs::path& file) { edit(file, [](int opened) { ASSERT_EQ(::ftruncate(opened, 0), 0); }); },
     "empty"},
    {"ZeroFill",
     [](const fs::path& file) {
       edit(file, [](int opened) {
         struct stat status {};
         ASSERT_EQ(::fstat(opened, &status), 0);
         const std::string zeros(static_cast<std::size_t>(status.st_size), '\0');
         ASSERT_EQ(::pwrite(opened, zeros.data(), zeros.size(), 0), status.st_size);
       });
     },
     "wrong bytes"},
    {"Appended",
     [](const fs::path& file) {
       edit(file, [](int opened) { ASSERT_EQ(::pwrite(opened, "x", 1, 1 << 20), 1); });
     },
     "wrong size"},
    {"Replaced",
     [](const fs::path& file) {
       const auto size = fs::file_size(file);
       fs::remove(file);
       test::write_text(file, std::string(size, 'r'));
       ASSERT_EQ(::chmod(file.c_str(), 0444), 0);
     },
     "wrong bytes"},
    {"Deleted", [](const fs::path& file) { fs::remove(file); }, "missing"},
    {"MadeAFolder",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_directories(file / "inside");
     },
     "wrong kind"},
    {"MadeALink",
     [](const fs::path& file) {
       fs::remove(file);
       fs::create_symlink("/etc/passwd", file);
     },
     "wrong kind"},
    {"MadeWritable", [](const fs::path& file) { ASSERT_EQ(::chmod(file.c_str(), 0666), 0); }, "wrong mode"},
    {"MadeUnreadable", [](const fs::path& file) { ASSERT_EQ(::chmod(file.c_str(), 0), 0); }, "wrong mode"},
};

// The damaged files. The hard link in the other place is damaged too unless the file was replaced.
const std::vector<const char*> files{"lib/shared.so.1", "NOTICE"};

class Repairs : public testing::TestWithParam<Damage> {
 protected:
  Repairs() { installed = *test::install_small_build(store, "one"); }

  std::vector<Violation> violations() const {
    auto found = check(store.root());
    EXPECT_TRUE(found);
    return found ? std::move(*found) : std::vector<Violation>{};
  }
  Result<Repaired> repair(const Store& with, const FetchFiles& fetch = {}) const {
    TRY_ASSIGN(Stage stage, with.stage(Store::key_of("one")));
    return with.repair("one", stage, fetch);
  }
  fs::path tree_file(const std::string& path) const {
    return folder / ("cache/trees/" + installed.trees.at(1)) / path;
  }
  void expect_whole() const {
    for (const Violation& violation : violations())
      ADD_FAILURE() << violation.invariant << " " << name_of(violation.problem.kind) << " "
                    << violation.problem.path;
    EXPECT_TRUE(store.find("one") && *store.find("one"));
  }
  // Damages one place after another and expects `reported` for that file, and for that file only.
  void in_every_place(const std::function<void(const std::string& file)>& then) {
    for (const char* file : files)
      for (const bool in_view : {true, false}) {
        SCOPED_TRACE(std::string(file) + (in_view ? " in the view" : " in the tree"));
        GetParam().apply(in_view ? installed.folder / file : tree_file(file));
        const auto found = violations();
        ASSERT_FALSE(found.empty());
        for (const Violation& violation : found) {
          EXPECT_TRUE(std::string_view(name_of(violation.problem.kind)) == GetParam().reported ||
                      violation.problem.kind == Problem::Kind::unexpected)
              << name_of(violation.problem.kind) << " " << violation.problem.path;
          EXPECT_EQ(violation.problem.path.substr(0, std::string_view(file).size()), file);
          EXPECT_FALSE(violation.problem.diagnosis.value(Key::file).empty());
          EXPECT_EQ(violation.build, "one");
        }
        then(file);
      }
  }
  static void expect_only(const Repaired& repaired, const std::string& file) {
    ASSERT_FALSE(repaired.files.empty());
    for (const RepairedFile& each : repaired.files) EXPECT_EQ(each.problem.path.substr(0, file.size()), file);
  }

  test::TemporaryFolder folder;
  Store store = Store::open(folder / "cache", {}, "repair_test");
  Installed installed;
};

TEST_P(Repairs, UseALayer) {
  fs::copy(folder / "cache", folder / "layer", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const std::string layer = fingerprint_of(folder / "layer");
  const Store layered = Store::open(folder / "cache", {folder / "layer"}, "repair_test");
  in_every_place([&](const std::string& file) {
    const auto repaired = repair(layered);
    ASSERT_TRUE(repaired) << repaired.error().code;
    EXPECT_TRUE(repaired->left.empty());
    expect_only(*repaired, file);
    expect_whole();
  });
  EXPECT_EQ(fingerprint_of(folder / "layer"), layer) << "I9";
}

TEST_P(Repairs, UseASourceOfSingleFiles) {
  in_every_place([&](const std::string& file) {
    const auto repaired = repair(store, test::bring_small_files);
    ASSERT_TRUE(repaired) << repaired.error().code;
    EXPECT_TRUE(repaired->left.empty());
    expect_only(*repaired, file);
    expect_whole();
  });
}

TEST_P(Repairs, LeaveOpenFilesUnchanged) {
  const fs::path file = installed.folder / "lib/shared.so.1";
  GetParam().apply(file);
  const FileDescriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat before {
  }, after{};
  if (!open.valid() || ::fstat(open.get(), &before) != 0 || !S_ISREG(before.st_mode)) return;
  ASSERT_TRUE(repair(store, test::bring_small_files));
  expect_whole();
  ASSERT_EQ(::fstat(open.get(), &after), 0);
  EXPECT_EQ(after.st_size, before.st_size) << "nothing is edited in place";
}

INSTANTIATE_TEST_SUITE_P(Every, Repairs, testing::ValuesIn(damages),
                         [](const auto& instance) { return std::string(instance.param.name); });

class Repair : public Repairs {};

INSTANTIATE_TEST_SUITE_P(Of, Repair, testing::Values(damages.front()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST_P(Repair, TheViewIsRepairedFromItsTreeWithoutAnySource) {
  const fs::path file = installed.folder / "NOTICE";
  fs::remove(file);
  test::write_text(file, "other");
  const auto repaired = repair(store);
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->files.size(), 1u);
  EXPECT_EQ(repaired->files[0].from, "the tree");
  expect_whole();
}

TEST_P(Repair, TheTreeIsRepairedFromTheViewWithoutAnySource) {
  fs::remove(tree_file("NOTICE"));
  const auto repaired = repair(store);
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->files.size(), 1u);
  EXPECT_EQ(repaired->files[0].from, "the view");
  expect_whole();
}

TEST_P(Repair, TheSameBytesInAnotherTreeServe) {
  // Another tree that also holds the shared library.
  {
    auto stage = store.stage("twin");
    ASSERT_TRUE(stage);
    ASSERT_TRUE(test::publish(store, *stage, "twin",
                              {{"deep/other.so.1", test::large_library_bytes()}, {"lib/twin.so.1", "x"}}));
  }
  GetParam().apply(tree_file("lib/shared.so.1"));
  const auto repaired = repair(store);
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->files.size(), 1u);
  EXPECT_EQ(repaired->files[0].from.substr(0, 5), "tree ");
  expect_whole();
}

TEST_P(Repair, UnrepairableFilesAreReportedAndNothingElseIsLost) {
  GetParam().apply(tree_file("lib/shared.so.1"));
  fs::remove(tree_file("lib/shared.so"));
  const auto repaired = repair(store, [](const auto&, const auto&, const auto&) -> Result<std::string> {
    return fail(diagnose(Code::no_connection).with(Key::problem, "down"));
  });
  ASSERT_TRUE(repaired);
  ASSERT_EQ(repaired->left.size(), 1u);
  EXPECT_EQ(repaired->left[0].path, "lib/shared.so.1");
  ASSERT_EQ(repaired->not_fetched.size(), 1u);
  EXPECT_EQ(repaired->not_fetched[0].code, "EH-N02");
  EXPECT_TRUE(fs::is_symlink(tree_file("lib/shared.so"))) << "links need no source";
}

TEST_P(Repair, WrongBytesFromASourceAreNotTaken) {
  GetParam().apply(tree_file("lib/shared.so.1"));
  const auto repaired =
      repair(store, [](const auto&, const auto& wanted, const fs::path& into) -> Result<std::string> {
        for (const TreeEntry& entry : wanted)
          test::write_text(into / entry.path, std::string(entry.size, 'w'));
        return std::string("a liar");
      });
  ASSERT_TRUE(repaired);
  EXPECT_EQ(repaired->left.size(), 1u);
  EXPECT_NE(test::read_text(tree_file("lib/shared.so.1")).substr(0, 3), "www");
}

TEST_P(Repair, AWholeTreeAndItsListComeBackFromALayer) {
  fs::copy(folder / "cache", folder / "layer", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove_all(folder / ("cache/trees/" + installed.trees.at(1)));
  fs::remove_all(installed.folder);
  test::write_text(folder / ("cache/lists/" + installed.trees.at(1)), "cut");
  const auto repaired = repair(Store::open(folder / "cache", {folder / "layer"}, "repair_test"));
  ASSERT_TRUE(repaired) << repaired.error().code;
  EXPECT_TRUE(repaired->left.empty());
  expect_whole();
}

}  // namespace
}  // namespace enginehost::cache
