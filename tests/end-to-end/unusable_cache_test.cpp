// A missing, unreadable or damaged cache is reported as such, never as an empty one.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class UnusableCache : public testing::Test {
 protected:
  UnusableCache() : repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
    for (fs::path at = workplace.folder(); at.has_relative_path() && at != fs::temp_directory_path();
         at = at.parent_path())
      ::chmod(at.c_str(), 0755);
  }
  void fetch() const {
    const Ended fetched = cache({"fetch", "reference", "--repository", repository.root().native()});
    ASSERT_EQ(fetched.status, 0) << fetched.said();
  }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    return workplace.run("engine-cache", std::move(arguments), options);
  }
  // Runs as another user without a home, in a folder that this user may write.
  RunOptions as_nobody(const std::vector<std::string>& unset) const {
    const fs::path here = workplace.folder() / "here";
    fs::create_directories(here);
    ::chmod(here.c_str(), 0777);
    RunOptions options;
    options.launcher = {"sh",
                        "-c",
                        R"(cd "$1" && shift && exec "$@")",
                        "sh",
                        here.native(),
                        "setpriv",
                        "--reuid",
                        "65534",
                        "--regid",
                        "65534",
                        "--clear-groups",
                        "env"};
    for (const std::string& variable : unset) {
      options.launcher.push_back("-u");
      options.launcher.push_back(variable);
    }
    return options;
  }
  std::size_t made_here() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(workplace.folder() / "here")) ++count;
    return count;
  }

  Workplace workplace;
  TestRepository repository;
};

const std::vector<std::string> places = {"HOME",           "ENGINEHOST_CACHE", "XDG_CACHE_HOME",
                                         "XDG_STATE_HOME", "XDG_CONFIG_HOME",  "XDG_DATA_HOME"};

TEST_F(UnusableCache, IsReportedWithTheVariableWhenThereIsNoHome) {
  if (::geteuid() != 0) GTEST_SKIP() << "becoming somebody without a home needs root";
  const RunOptions nobody = as_nobody(places);
  const std::string location = repository.root().native();
  const Ended opened = workplace.info({"reference", "--repository", location, "--json"}, nobody);
  if (opened.status == 126 || opened.status == 127) GTEST_SKIP() << "the build is closed to others";
  EXPECT_EQ(opened.status, 7) << opened.said();
  EXPECT_EQ(opened.code(), "EH-F16");
  EXPECT_THAT(opened.diagnosis()["cause"].as_string(), HasSubstr("HOME is not set"));
  EXPECT_THAT(opened.diagnosis()["remedy"].dump(), HasSubstr("--cache or ENGINEHOST_CACHE"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"fetch", "reference", "--repository", location},
        {"path"},
        {"list"},
        {"gc"},
        {"verify"},
        {"remove", "reference-good"},
        {"pin", "reference-good"},
        {"unpin", "reference-good"}}) {
    const Ended run = cache(arguments, nobody);
    EXPECT_EQ(run.status, 7) << arguments.front() << ": " << run.said();
    EXPECT_EQ(run.output, "") << arguments.front();
    EXPECT_THAT(run.error, HasSubstr("HOME is not set")) << arguments.front();
  }
  EXPECT_EQ(workplace.info({"--json"}, nobody).status, 0) << "the machine is reported nevertheless";
  EXPECT_EQ(made_here(), 0u);
}

TEST_F(UnusableCache, AnUnreadableCacheIsNotReportedAsEmpty) {
  if (::geteuid() != 0) GTEST_SKIP() << "acting as two users needs root";
  fetch();
  ::chmod(workplace.cache().c_str(), 0700);
  const RunOptions nobody = as_nobody({});
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"list"},
                                                    {"verify"},
                                                    {"gc"},
                                                    {"verify", "reference-good"},
                                                    {"remove", "reference-good"},
                                                    {"unpin", "reference-good"}}) {
    const Ended run = cache(arguments, nobody);
    if (run.status == 126 || run.status == 127) GTEST_SKIP() << "the build is closed to others";
    EXPECT_EQ(run.status, 7) << arguments.front() << ": " << run.said();
    EXPECT_EQ(run.output, "") << arguments.front();
    EXPECT_THAT(run.error,
                AllOf(HasSubstr("EH-F23"), HasSubstr(workplace.cache().native() + " cannot be read"),
                      HasSubstr("Permission denied")))
        << arguments.front();
  }
  EXPECT_THAT(workplace.info({}, nobody).output, HasSubstr("EH-F23"));
}

TEST_F(UnusableCache, AFileOrADeviceIsNoCache) {
  write_text(workplace.folder() / "file", "x");
  for (const std::string& place : {(workplace.folder() / "file").native(), std::string("/dev/full")})
    for (const char* command : {"list", "verify", "gc"}) {
      const Ended run = cache({command, "--cache", place, "--json"});
      EXPECT_EQ(run.status, 7) << command << ": " << run.said();
      EXPECT_EQ(run.code(), "EH-F23") << command;
    }
  EXPECT_EQ(cache({"list", "--cache", (workplace.folder() / "none").native()}).status, 0)
      << "one that nobody made yet is in order";
}

TEST_F(UnusableCache, ADanglingLinkIsNotReportedAsEmpty) {
  const fs::path link = workplace.folder() / "link", target = workplace.folder() / "unplugged";
  fs::create_symlink(target, link);
  for (const char* command : {"list", "verify", "gc"}) {
    const Ended run = cache({command, "--cache", link.native()});
    EXPECT_EQ(run.status, 7) << command << ": " << run.said();
    EXPECT_THAT(run.error,
                HasSubstr(link.native() + " is a link to " + target.native() + ", which is not there"))
        << command;
  }
}

TEST_F(UnusableCache, AReadOnlyCacheIsReportedWithItsRemedy) {
  fetch();
  if (!can_mount()) GTEST_SKIP() << "a folder that nobody can write needs the right to mount";
  RunOptions read_only;
  read_only.launcher = with_read_only(workplace.cache());
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"remove", "reference-good"}, {"pin", "reference-good"}, {"gc"}}) {
    const Ended run = cache(arguments, read_only);
    EXPECT_EQ(run.status, 7) << arguments.front() << ": " << run.said();
    EXPECT_THAT(run.error, AllOf(HasSubstr("EH-F16"), HasSubstr("as the owner of"), Not(HasSubstr("fetch"))))
        << arguments.front();
  }
  write_text(workplace.cache() / "LAYER.json", R"({"format": 99})");
  const Ended newer = cache({"remove", "reference-good"});
  EXPECT_EQ(newer.status, 7) << newer.said();
  EXPECT_THAT(newer.error, AllOf(HasSubstr("a newer program made this cache"),
                                 HasSubstr("use the version of EngineHost that made this cache"),
                                 Not(HasSubstr("owner"))));
}

TEST_F(UnusableCache, RootsFilesInAUsersCacheGetTheOwnersCommand) {
  if (::geteuid() != 0) GTEST_SKIP() << "acting as two users needs root";
  fetch();
  for (const auto& entry : fs::recursive_directory_iterator(workplace.folder()))
    ASSERT_EQ(::lchown(entry.path().c_str(), 65534, 65534), 0);
  for (const auto& entry : fs::recursive_directory_iterator(workplace.cache() / "trees"))
    ASSERT_EQ(::lchown(entry.path().c_str(), 0, 0), 0);
  const Ended removed = cache({"remove", "reference-good"}, as_nobody({}));
  if (removed.status == 126 || removed.status == 127) GTEST_SKIP() << "the build is closed to others";
  EXPECT_EQ(removed.status, 0) << "the build is gone: " << removed.said();
  EXPECT_THAT(removed.error, AllOf(HasSubstr("in this user's cache belongs to user 0"),
                                   HasSubstr("chown -R --reference=" + workplace.cache().native() + " ")));
}

// As after the first command was run with sudo.
TEST_F(UnusableCache, RootsCacheInAUsersFolderGetsTheOwnersCommand) {
  if (::geteuid() != 0) GTEST_SKIP() << "acting as two users needs root";
  fetch();
  ASSERT_EQ(::lchown(workplace.folder().c_str(), 65534, 65534), 0);
  const Ended run = cache({"remove", "reference-good"}, as_nobody({}));
  if (run.status == 126 || run.status == 127) GTEST_SKIP() << "the build is closed to others";
  EXPECT_EQ(run.status, 7) << run.said();
  const std::string cache = workplace.cache().native();
  EXPECT_THAT(run.error,
              AllOf(HasSubstr(cache + " belongs to user 0, as after a command with sudo"),
                    HasSubstr("chown -R --reference=" + workplace.folder().native() + " " + cache)));
}

TEST_F(UnusableCache, FoldersOnSeveralFileSystemsAreReported) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  fs::create_directories(workplace.cache() / "trees");
  RunOptions options;
  options.launcher = with_tmpfs(workplace.cache() / "trees", "mode=0755");
  const Ended run =
      cache({"fetch", "reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(run.status, 7) << run.said();
  EXPECT_EQ(run.code(), "EH-F16") << run.said();
  EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("its folders are on different file systems"));
  EXPECT_THAT(run.diagnosis()["remedy"].dump(), HasSubstr("on one file system, or name another cache"));
}

// A cache of a container's image lies on the lower layer of an overlay, where no folder can be renamed.
class ImageCache : public UnusableCache {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
    fetch();
    fs::create_directory(workplace.folder() / "layers");
    if (in_a_container("true").status != 0) GTEST_SKIP() << "no overlay can be mounted here";
  }
  // Both layers of the container are in the memory of one mount namespace, so the commands run one after the
  // other.
  Ended in_a_container(const std::string& commands) const {
    RunOptions options;
    options.launcher = {"unshare",
                        "-m",
                        "sh",
                        "-ec",
                        "layers=$1 cache=$2; mount -t tmpfs none \"$layers\"; mkdir \"$layers/upper\" "
                        "\"$layers/work\"; mount -t overlay -o \"lowerdir=$cache,upperdir=$layers/upper,"
                        "workdir=$layers/work\" none \"$cache\"; shift 2; " +
                            commands,
                        "sh",
                        (workplace.folder() / "layers").native(),
                        workplace.cache().native()};
    return cache({"list"}, options);
  }
};

TEST_F(ImageCache, BuildsCanBeRemoved) {
  const Ended ended = in_a_container(
      "\"$1\" remove reference-good; test -z \"$(ls \"$cache/trees\" \"$cache/views\" | grep -v :)\"; "
      "\"$1\" verify; \"$1\" gc; \"$@\"");
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.output, HasSubstr("reference-good removed, "));
  EXPECT_THAT(ended.error, Not(HasSubstr("EH-")));
}

TEST_F(ImageCache, DamagedFilesAreMovedAsideAndRepaired) {
  const Ended ended = in_a_container(
      "library=$(find \"$cache/trees\" -name 'libengine_reference.so'); chmod u+w \"$library\"; "
      "echo broken > \"$library\"; rm -r \"$cache/views\"/*; "
      "\"$1\" verify --deep --repair --repository '" +
      repository.root().native() +
      "'; "
      "\"$1\" verify --deep; ls \"$cache/rejected\"; \"$@\"");
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.output, HasSubstr("every byte is right"));
}

TEST_F(UnusableCache, AFileInPlaceOfTheStateDoesNotStopCollection) {
  fetch();
  fs::remove_all(workplace.cache() / "state");
  write_text(workplace.cache() / "state", "x");
  EXPECT_THAT(workplace.info({"--verbose"}).output, HasSubstr("(the cache's cannot be written)"))
      << "where records go now is shown";
  const Ended gc = cache({"gc"});
  EXPECT_EQ(gc.status, 0) << gc.said();
}

// A file, a pipe or a dangling link in the place of a cache folder is reported, kept, and blocks nothing.
TEST_F(UnusableCache, AFileInAFoldersPlaceIsMovedAside) {
  fetch();
  const std::vector<std::function<void(const fs::path&)>> ways = {
      [](const fs::path& place) { write_text(place, "mine"); },
      [](const fs::path& place) { ASSERT_EQ(::mkfifo(place.c_str(), 0644), 0); },
      [](const fs::path& place) { fs::create_symlink("/nonexistent/disk", place); }};
  const auto aside_of = [&](const std::string& name) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(workplace.cache()))
      if (entry.path().filename().native().starts_with(name + ".aside-")) found.push_back(entry.path());
    return found;
  };
  std::size_t way = 0;
  for (const std::string name : {"refs", "views", "lists", "locks", "leases", "pins"}) {
    SCOPED_TRACE(name);
    const fs::path place = workplace.cache() / name;
    fs::remove_all(place);
    ways[way++ % ways.size()](place);
    for (const char* command : {"verify", "gc"}) {
      const Ended ended = cache({command, "--json"});
      EXPECT_EQ(ended.status, 7) << command << ": " << ended.said();
      EXPECT_EQ(ended.code(), "EH-F23") << command;
      EXPECT_THAT(ended.diagnosis()["remedy"].dump(),
                  HasSubstr("engine-cache verify --repair moves " + place.native() + " aside"))
          << command;
    }
    ASSERT_TRUE(aside_of(name).empty()) << "looking changes nothing";
    const Ended repaired = cache({"verify", "--repair"});
    EXPECT_EQ(repaired.status, 0) << repaired.said();
    EXPECT_THAT(repaired.output, HasSubstr("moved " + place.native() + " aside"));
    ASSERT_EQ(aside_of(name).size(), 1u);
    EXPECT_FALSE(fs::is_directory(fs::symlink_status(aside_of(name)[0])));
    EXPECT_EQ(cache({"verify"}).status, 0);
    fs::remove(aside_of(name)[0]);
    fetch();
  }
  // An open only warns.
  fs::remove_all(workplace.cache() / "refs");
  write_text(workplace.cache() / "refs", "mine");
  const std::vector<std::string> opening = {"reference", "--repository", repository.root().native(),
                                            "--json"};
  const Ended opened = workplace.info(opening);
  EXPECT_EQ(opened.status, 0) << opened.said();
  ASSERT_EQ(aside_of("refs").size(), 1u);
  EXPECT_THAT(opened.document["warnings"].dump(), HasSubstr(aside_of("refs")[0].native()));
  EXPECT_EQ(read_text(aside_of("refs")[0]), "mine");
  const Ended again = workplace.info(opening);
  EXPECT_TRUE(again.document["warnings"].as_array().empty()) << again.said();
  EXPECT_EQ(cache({"gc"}).status, 0);
  EXPECT_EQ(read_text(aside_of("refs")[0]), "mine") << "no collection takes it away";
}

// An intact list can be rebuilt without a network.
TEST_F(UnusableCache, LostListsAreRebuiltWithoutASource) {
  fetch();
  fs::remove_all(repository.root());
  for (const bool damaged : {true, false}) {
    for (const auto& list : fs::directory_iterator(workplace.cache() / "lists")) {
      if (damaged)
        fs::resize_file(list.path(), 10);
      else
        fs::remove(list.path());
    }
    EXPECT_NE(cache({"verify"}).status, 0);
    const Ended repaired = cache({"verify", "--deep", "--repair", "--offline"});
    EXPECT_EQ(repaired.status, 0) << repaired.said();
    EXPECT_THAT(repaired.output, HasSubstr("repaired lists/"));
    EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
    EXPECT_TRUE(fs::is_empty(workplace.cache() / "rejected")) << "the tree stayed";
    EXPECT_EQ(workplace.info({"reference", "--offline", "--json"}).status, 0);
  }
}

TEST_F(UnusableCache, AFolderInPlaceOfARecordIsMovedAside) {
  fetch();
  for (const char* name : {"consents/consents.jsonl", "audit/audit.jsonl"}) {
    fs::path file;
    for (const auto& state : fs::directory_iterator(workplace.cache() / "state"))
      if (fs::exists(state.path() / "audit")) file = state.path() / name;
    fs::remove_all(file);
    write_text(file / "x", "x");
    const Ended ended = cache({"verify"});
    EXPECT_EQ(ended.status, 7) << ended.said();
    EXPECT_THAT(ended.error, HasSubstr("engine-cache verify --repair moves " + file.native() + " aside"));
    const Ended moved = cache({"verify", "--repair"});
    EXPECT_EQ(moved.status, 0) << moved.said();
    EXPECT_THAT(moved.output, HasSubstr("moved " + file.native() + " aside"));
    EXPECT_EQ(cache({"verify"}).status, 0);
  }
}

TEST_F(UnusableCache, ADamagedLayoutIsReportedAndRepaired) {
  fetch();
  for (const std::string text : {"{\"format\":", "[]", "", "{}"}) {
    write_text(workplace.cache() / "LAYER.json", text);
    EXPECT_EQ(cache({"list"}).status, 0) << "it can be read all the same";
    for (const char* command : {"gc", "verify"}) {
      const Ended run = cache({command, "--json"});
      EXPECT_EQ(run.status, 7) << command << ": " << run.said();
      EXPECT_EQ(run.code(), "EH-F23") << command;
      EXPECT_EQ(run.document["warnings"].as_array().size(), 0u) << command << ": reported once";
    }
    EXPECT_THAT(cache({"gc"}).error,
                AllOf(HasSubstr("LAYER.json is damaged"), HasSubstr("engine-cache verify --repair")));
    const Ended repaired = cache({"verify", "--repair", "--json"});
    EXPECT_EQ(repaired.status, 0) << repaired.said();
    EXPECT_TRUE(repaired.document["layout_mended"].as_bool());
    EXPECT_EQ(cache({"gc"}).status, 0);
  }
}

TEST_F(UnusableCache, APathWithInvalidUtf8IsRefusedBeforeInstalling) {
  RunOptions options;
  options.launcher = {"env", "ENGINEHOST_CACHE=" + (workplace.folder() / "x\xff").native()};
  const Ended run =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P02");
  EXPECT_THAT(run.diagnosis()["cause"].as_string(),
              AllOf(HasSubstr("ENGINEHOST_CACHE"), HasSubstr("x\\xff"), HasSubstr("is not UTF-8")));
  EXPECT_FALSE(fs::exists(workplace.folder() / "x\xff"));
  const Ended machine = workplace.info({"--json"}, options);
  EXPECT_EQ(machine.status, 2) << machine.said();
  EXPECT_TRUE(machine.document["platform"].is_object()) << "the machine is reported nevertheless";
}

// The loader would look for the library in another folder.
TEST_F(UnusableCache, APathThatTheLoaderChangesIsRefusedBeforeInstalling) {
  for (const std::string name : {"$LIB", "a$ORIGIN", "${PLATFORM}x"}) {
    RunOptions options;
    options.launcher = {"env", "ENGINEHOST_CACHE=" + (workplace.folder() / name).native()};
    const Ended run =
        workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
    EXPECT_EQ(run.status, 2) << run.said();
    EXPECT_EQ(run.code(), "EH-P02");
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), AllOf(HasSubstr("ENGINEHOST_CACHE"), HasSubstr(name)));
    EXPECT_FALSE(fs::exists(workplace.folder() / name));
  }
  RunOptions home;
  fs::create_directories(workplace.folder() / "$LIB");
  home.launcher = {"env",
                   "-u",
                   "ENGINEHOST_CACHE",
                   "-u",
                   "XDG_CACHE_HOME",
                   "HOME=" + (workplace.folder() / "$LIB").native()};
  const Ended by_default =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, home);
  EXPECT_EQ(by_default.code(), "EH-P02") << by_default.said();
  EXPECT_THAT(by_default.diagnosis()["remedy"].dump(),
              AllOf(HasSubstr("--cache or ENGINEHOST_CACHE"), Not(HasSubstr("default"))));
  RunOptions harmless;
  harmless.launcher = {"env", "ENGINEHOST_CACHE=" + (workplace.folder() / "$HOME:a;b {LIB}").native()};
  EXPECT_EQ(
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, harmless).status,
      0);
}

TEST_F(UnusableCache, ABuildThatIsNotInstalledIsAWrongArgument) {
  const auto requests = [&](const std::string& id) {
    return std::vector<std::vector<std::string>>{
        {"verify", id},
        {"remove", id},
        {"pin", id},
        {"unpin", id},
        {"export", (workplace.folder() / "x.bundle").native(), id},
        {"export", "--oci", (workplace.folder() / "layout").native(), id},
        {"push", id, "localhost:1/x"}};
  };
  for (std::vector<std::string> arguments : requests("nosuch")) {
    arguments.emplace_back("--json");
    const Ended run = cache(arguments);
    EXPECT_EQ(run.status, 2) << arguments.front() << ": " << run.said();
    EXPECT_EQ(run.code(), "EH-S23") << arguments.front();
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("which has no builds")) << arguments.front();
  }
  EXPECT_FALSE(fs::exists(workplace.folder() / "layout"));
  fetch();
  for (const std::vector<std::string>& arguments : requests("nosuch"))
    EXPECT_THAT(cache(arguments).error, HasSubstr("installed are reference-good")) << arguments.front();
  EXPECT_THAT(cache({"remove", "reference-god"}).error, HasSubstr("did you mean reference-good?"));
  EXPECT_THAT(cache({"remove", "nosuch"}).error, Not(HasSubstr("--repair")));
}

}  // namespace
}  // namespace enginehost::test
