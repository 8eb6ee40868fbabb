// One system call fails once, as with a failing disk. No data is lost, and no report is false. A file whose
// look-up failed counts neither as present nor as absent.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OneFailure : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_trace())
      GTEST_SKIP() << "a system call that fails is strace's, which is not here or may not trace";
    repository.add(good_build());
    repository.write();
    const Ended fetched = cache({"fetch", "reference", "--repository", repository.root().native()});
    ASSERT_EQ(fetched.status, 0) << fetched.said();
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.push_back("--json");
    return workplace.run("engine-cache", std::move(arguments), options);
  }
  // Runs engine-cache; the call number `which` on the file fails, or all of them for 0.
  Ended cache_where(std::vector<std::string> arguments, const fs::path& file, const std::string& call,
                    int which = 0, const std::string& error = "EIO") const {
    RunOptions options;
    options.launcher = with_failing_call(call, error, file);
    if (which != 0) options.launcher.back() += ":when=" + std::to_string(which);
    return cache(std::move(arguments), options);
  }
  fs::path place(const std::string& name) const { return workplace.cache() / name; }
  fs::path only_file_in(const std::string& folder) const {
    return fs::directory_iterator(place(folder))->path();
  }
  const fs::path record() const { return place("refs/reference-good.ref"); }
  // Makes the build look as if it had been used last then.
  void age(int days) const {
    const timespec then{std::time(nullptr) - days * 24 * 3600, 0};
    const timespec times[2] = {then, then};
    for (const auto& lease : fs::directory_iterator(place("leases")))
      ASSERT_EQ(::utimensat(AT_FDCWD, lease.path().c_str(), times, 0), 0);
    std::string text = read_text(record());
    const std::size_t at = text.find("installed_at ");
    text.replace(at, text.find('\n', at) - at, "installed_at " + std::to_string(then.tv_sec));
    write_text(record(), text);
  }
  void expect_installed() const {
    const Ended list = cache({"list"});
    EXPECT_EQ(list.document["builds"].as_array().size(), 1u) << list.said();
    const Ended sound = cache({"verify", "--deep"});
    EXPECT_EQ(sound.status, 0) << sound.said();
  }

  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(OneFailure, AnUncheckedPinKeepsItsBuild) {
  age(50);
  ASSERT_EQ(cache({"pin", "reference-good"}).status, 0);
  const fs::path pin = place("pins/reference-good.pin");
  const Ended gc = cache_where({"gc", "--max-age", "30d"}, pin, "access", 1);
  EXPECT_EQ(gc.status, 7) << gc.said();
  EXPECT_THAT(gc.document["removed"].as_array(), IsEmpty()) << gc.said();
  ASSERT_EQ(gc.document["stayed"].as_array().size(), 1u) << gc.said();
  EXPECT_EQ(gc.document["stayed"].as_array()[0]["code"].as_string(), "EH-F23");
  expect_installed();
  // The installed builds can be listed.
  const Ended list = cache_where({"list"}, pin, "access", 1);
  EXPECT_EQ(list.status, 0) << list.said();
  ASSERT_EQ(list.document["builds"].as_array().size(), 1u) << list.said();
  EXPECT_TRUE(list.document["builds"].as_array()[0]["pinned"].is_null()) << list.said();
  ASSERT_EQ(list.document["warnings"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["warnings"].as_array()[0]["code"].as_string(), "EH-F23");
  ASSERT_EQ(cache({"unpin", "reference-good"}).status, 0);
  // A pin needs the record itself, which can be read.
  for (const char* command : {"pin", "unpin"})
    EXPECT_EQ(cache_where({command, "reference-good"}, record(), "access", 1).status, 0) << command;
  const Ended remove = cache_where({"remove", "reference-good"}, record(), "access", 1);
  EXPECT_EQ(remove.code(), "EH-F23") << remove.said();
  expect_installed();
}

// Another process is just loading it.
TEST_F(OneFailure, AnUncheckedLockKeepsAnUnfinishedDownload) {
  const std::string digest(64, 'a');
  write_text(place("partial/" + digest), std::string(100'000, 'x'));
  write_text(place("locks/archive-" + digest + ".lk"), "");
  RunOptions options;
  options.launcher = with_failing_call("access", "EIO", place("locks/archive-" + digest + ".lk"));
  options.launcher.insert(options.launcher.begin(),
                          {"flock", "--shared", place("locks/archive-" + digest + ".lk").native()});
  const Ended gc = cache({"gc", "--max-size", "1"}, options);
  EXPECT_TRUE(fs::exists(place("partial/" + digest))) << gc.said();
  EXPECT_EQ(gc.status, 7) << gc.said();
}

// It is then unknown whether locks work here.
TEST_F(OneFailure, AnUncheckedNoteOnLocksKeepsAll) {
  age(50);
  const Ended gc = cache_where({"gc", "--max-age", "30d"}, place("locks/.not-kept"), "access");
  EXPECT_EQ(gc.status, 7) << gc.said();
  const Ended removal = cache_where({"remove", "reference-good"}, place("locks/.not-kept"), "access");
  EXPECT_EQ(removal.code(), "EH-F23") << removal.said();
  expect_installed();
}

// It may have been used today; only its record says 50 days.
TEST_F(OneFailure, AnUnknownLastUseCountsAsNow) {
  age(50);
  write_text(only_file_in("leases"), "");
  const Ended gc = cache_where({"gc", "--max-age", "30d"}, only_file_in("leases"), "newfstatat", 1);
  EXPECT_THAT(gc.document["removed"].as_array(), IsEmpty()) << gc.said();
  expect_installed();
}

TEST_F(OneFailure, AnUnreadableTreeStaysWithoutItsRecord) {
  const fs::path tree = only_file_in("trees");
  fs::remove_all(place("refs"));
  const Ended gc = cache_where({"gc"}, tree, "newfstatat");
  EXPECT_TRUE(fs::exists(tree)) << gc.said();
  EXPECT_FALSE(gc.document["unrecorded"].as_array().empty()) << gc.said();
}

// The collection reads each record several times. Whichever read fails, no build is removed.
TEST_F(OneFailure, AnUnreadableRecordIsNotAbsent) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"list"},
        {"licenses", "list", "--repository", repository.root().native()},
        {"request", (workplace.folder() / "request.json").native()}}) {
    const Ended ended = cache_where(command, record(), "read");
    EXPECT_EQ(ended.status, 7) << ended.said();
    EXPECT_EQ(ended.code(), "EH-F23") << ended.said();
    EXPECT_EQ(evidence(ended.diagnosis(), "file"), record().native());
  }
  const Ended verified = cache_where({"verify"}, record(), "read", 1);
  EXPECT_EQ(verified.status, 7) << verified.said();
  EXPECT_EQ(verified.document["builds"].as_array().size(), 1u) << verified.said();
  const Ended folder = cache_where({"list"}, place("refs"), "getdents64", 1);
  EXPECT_EQ(folder.code(), "EH-F23") << folder.said();
  EXPECT_EQ(evidence(folder.diagnosis(), "folder"), place("refs").native());
  age(50);
  for (int which = 1; which <= 3; ++which) {
    const Ended gc = cache_where({"gc", "--max-age", "30d"}, record(), "read", which);
    EXPECT_THAT(gc.document["removed"].as_array(), IsEmpty()) << which << gc.said();
    EXPECT_NE(gc.status, 0) << which << gc.said();
    expect_installed();
  }
}

TEST_F(OneFailure, AnUnreadableRecordOfALayerIsNotAbsent) {
  Workplace other;
  RunOptions options;
  const fs::path layer = workplace.cache();
  other.configure(Json::object()
                      .set("repositories_default", false)
                      .set("system_layers", Json::strings({layer.native()})));
  const Ended sound = other.run("engine-cache", {"verify", "reference-good", "--json"});
  ASSERT_EQ(sound.status, 0) << sound.said();
  options.launcher = with_failing_call("read", "EIO", record());
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"verify", "--json"}, {"verify", "reference-good", "--json"}}) {
    const Ended ended = other.run("engine-cache", command, options);
    EXPECT_EQ(ended.code(), "EH-F23") << ended.said();
  }
}

// The record is read again to check that the damaged files belong to it.
TEST_F(OneFailure, DamageIsReportedWhenTheRecordCannotBeReadAgain) {
  for (const char* part : {"views", "trees"})
    for (const auto& file : fs::recursive_directory_iterator(only_file_in(part)))
      if (file.is_regular_file() && file.path().extension() == ".so") {
        fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
        std::string bytes = read_text(file);
        bytes[bytes.size() / 2] ^= 1;
        write_text(file, bytes);
      }
  ASSERT_EQ(cache({"verify", "--deep"}).code(), "EH-F08");
  for (int which = 2; which <= 6; ++which) {
    const Ended verified = cache_where({"verify", "--deep"}, record(), "read", which);
    // With the check's first read failing, the tree belongs to no known build: its damage is listed beside
    // them.
    const Json& place = which == 2 ? verified.document["problems"] : verified.document["builds"];
    EXPECT_THAT(place.dump(), HasSubstr("EH-F08")) << which << verified.said();
    EXPECT_FALSE(verified.document["builds"].as_array()[0]["ok"].as_bool(true)) << which;
    EXPECT_NE(verified.status, 0) << which;
  }
}

TEST_F(OneFailure, AnUnreadableFolderIsNotInOrder) {
  for (const fs::path& folder :
       {place("refs"), place("trees"), only_file_in("views"), only_file_in("trees")}) {
    // The list of builds reads the folder of records first.
    const Ended verified = cache_where({"verify"}, folder, "getdents64", folder == place("refs") ? 3 : 1);
    EXPECT_EQ(verified.status, 7) << verified.said();
    EXPECT_EQ(verified.code(), "EH-F23") << verified.said();
    EXPECT_EQ(evidence(verified.diagnosis(), "folder"), folder.native());
  }
}

// The next command does not read a record that was written somewhere else.
TEST_F(OneFailure, DisableWritesWhereTheNextCommandReads) {
  const Ended disabled =
      cache_where({"quarantine", "disable", "reference-good"}, only_file_in("state"), "access", 1);
  EXPECT_EQ(disabled.status, 0) << disabled.said();
  const Ended list = cache({"quarantine", "list"});
  EXPECT_EQ(list.document["records"].as_array().size(), 1u) << list.said();
}

// Its lock was held when the collection checked whether the bound can be reached at all. The bound cannot be
// reached, although the lock is free a moment later.
TEST_F(OneFailure, ABuildInUseIsNotRemovedForAnUnreachableBound) {
  const Ended gc = cache_where({"gc", "--max-size", "1"}, only_file_in("leases"), "flock", 1, "EAGAIN");
  EXPECT_EQ(gc.status, 0) << gc.said();
  EXPECT_TRUE(gc.document["bound_missed"].as_bool()) << gc.said();
  EXPECT_THAT(gc.document["removed"].as_array(), IsEmpty()) << gc.said();
  ASSERT_EQ(gc.document["kept"].as_array().size(), 1u) << gc.said();
  EXPECT_EQ(gc.document["kept"].as_array()[0]["why"].as_string(), "in use");
  expect_installed();
}

// The lease that the record names shows whether a process uses the build.
TEST_F(OneFailure, AnUnreadableRecordProtectsABuildInUse) {
  RunOptions options;
  options.launcher = with_failing_call("read", "EIO", record());
  options.launcher.insert(options.launcher.begin(), {"flock", "--shared", only_file_in("leases").native()});
  const Ended removal = cache({"remove", "reference-good"}, options);
  EXPECT_NE(removal.status, 0) << removal.said();
  EXPECT_THAT(removal.diagnosis().dump(), HasSubstr(record().native()));
  expect_installed();
  write_text(record(), "no record");
  EXPECT_EQ(cache({"remove", "reference-good"}).status, 0);
}

// A lack of memory is recorded only where a limit was found too small for good.
TEST_F(OneFailure, AMomentaryLackOfMemoryIsNoStrike) {
  const fs::path plugin = only_file_in("views") / good_build().plugin;
  ASSERT_TRUE(fs::exists(plugin)) << plugin;
  for (const bool ever : {true, false}) {
    RunOptions options;
    options.launcher = with_failing_call("mmap", "ENOMEM", plugin);
    if (!ever) options.launcher.back() += ":when=1";
    std::erase(options.launcher, "-f");  // otherwise each child would have its own first call
    const Ended opened = workplace.info({"reference", "--offline", "--json"}, options);
    if (ever)
      EXPECT_EQ(opened.code(), "EH-L23") << opened.said();
    else
      EXPECT_EQ(opened.status, 0) << opened.said();
    EXPECT_THAT(cache({"quarantine", "list"}).document["records"].as_array(), IsEmpty());
  }
}

TEST_F(OneFailure, TheSystemsErrorTextIsReported) {
  const fs::path plugin = only_file_in("views") / good_build().plugin;
  const Ended pinned = cache_where({"pin", "reference-good"}, place("trees"), "newfstatat");
  EXPECT_THAT(pinned.diagnosis().dump(), HasSubstr("Input/output error")) << pinned.said();
  const Ended verified = cache_where({"verify"}, only_file_in("trees"), "newfstatat");
  EXPECT_THAT(verified.document["builds"].dump(), HasSubstr("Input/output error")) << verified.said();
  EXPECT_THAT(verified.document["builds"].dump(), Not(HasSubstr("does not exist"))) << verified.said();
  RunOptions options;
  options.launcher = with_failing_call("pread64", "EIO", plugin);
  const Ended looked = workplace.info({"--inspect", plugin.native(), "--json"}, options);
  EXPECT_EQ(looked.code(), "EH-F01") << looked.said();
  EXPECT_EQ(evidence(looked.diagnosis(), "errno"), "EIO");
  const Ended accepted =
      cache_where({"licenses", "accept", "MIT", "--repository", repository.root().native()},
                  repository.root() / "index.json", "read");
  EXPECT_NE(accepted.code(), "EH-P07") << accepted.said();
  EXPECT_THAT(accepted.diagnosis().dump(), HasSubstr("EIO"));
  const Ended cleared =
      cache_where({"quarantine", "clear", "reference-good"}, only_file_in("state") / "history", "openat");
  EXPECT_EQ(cleared.code(), "EH-F23") << cleared.said();
  EXPECT_EQ(evidence(cleared.diagnosis(), "errno"), "EIO");
}

}  // namespace
}  // namespace enginehost::test
