// engine-cache gc, pin, unpin and verify, as an administrator uses them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "base/files.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class CacheCommands : public testing::Test {
 protected:
  CacheCommands() : repository(workplace.folder() / "repository") {
    repository.add(good_build());
    repository.write();
    location = repository.root().native();
    const Ended fetched =
        workplace.run("engine-cache", {"fetch", "reference", "--repository", location, "--json"});
    EXPECT_EQ(fetched.status, 0) << fetched.said();
    view = fetched.document["fetched"].as_array().at(0)["folder"].as_string();
  }
  Ended cache(std::vector<std::string> arguments) const {
    return workplace.run("engine-cache", std::move(arguments));
  }
  std::size_t installed() const { return cache({"list", "--json"}).document["builds"].as_array().size(); }
  fs::path library() const {
    for (const auto& file : fs::recursive_directory_iterator(view))
      if (file.path().filename() == "libengine_reference.so") return file.path();
    return {};
  }

  Workplace workplace;
  TestRepository repository;
  std::string location;
  fs::path view;
};

TEST_F(CacheCommands, GcWithoutABoundRemovesNoBuild) {
  const Ended gc = cache({"gc", "--json"});
  EXPECT_EQ(gc.status, 0) << gc.said();
  EXPECT_TRUE(gc.document["removed"].as_array().empty());
  EXPECT_GT(gc.document["before"]["physical"].as_integer(), 0);
  EXPECT_EQ(installed(), 1u);
}

TEST_F(CacheCommands, GcDoesWhatItsDryRunPrints) {
  const Ended ended = cache({"gc", "--max-size", "0", "--dry-run", "--json"});
  ASSERT_EQ(ended.status, 0) << ended.said();
  EXPECT_EQ(ended.document["removed"].as_array().at(0)["build"].as_string(), "reference-good");
  EXPECT_EQ(installed(), 1u);
  const Ended done = cache({"gc", "--max-size", "0", "--json"});
  ASSERT_EQ(done.status, 0) << done.said();
  EXPECT_EQ(done.document["removed"].as_array().size(), 1u);
  EXPECT_LT(done.document["after"]["physical"].as_integer(),
            done.document["before"]["physical"].as_integer());
  EXPECT_EQ(installed(), 0u);
  // The next opening brings it back.
  EXPECT_EQ(workplace.info({"reference", "--repository", location, "--json"}).status, 0);
}

TEST_F(CacheCommands, GcKeepsTreesWithoutARecordUnlessAllowed) {
  fs::remove_all(workplace.cache() / "refs");
  const Ended ended = cache({"gc"});
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.output,
              HasSubstr("kept 1 tree that no record names since the folder of records (refs) was "
                        "lost"));
  EXPECT_THAT(ended.output, HasSubstr(": engine-cache gc --unrecorded\n"));
  const std::string here = workplace.cache().native();
  EXPECT_THAT(cache({"gc", "--cache", here}).output,
              HasSubstr(": engine-cache gc --cache " + here + " --unrecorded\n"));
  const Ended document = cache({"gc", "--json"});
  ASSERT_EQ(document.document["unrecorded"].as_array().size(), 1u) << document.said();
  const std::string tree = document.document["unrecorded"].as_array()[0]["tree"].as_string();
  EXPECT_TRUE(fs::exists(workplace.cache() / "trees" / tree));
  const Ended freed = cache({"gc", "--unrecorded"});
  EXPECT_EQ(freed.status, 0) << freed.said();
  EXPECT_THAT(freed.output, HasSubstr("removed 1 tree that no record names"));
  EXPECT_FALSE(fs::exists(workplace.cache() / "trees" / tree));
  EXPECT_TRUE(cache({"gc", "--json"}).document["unrecorded"].as_array().empty());
}

TEST_F(CacheCommands, GcAndRemoveNameTheProcessThatUsesABuild) {
  const auto lease = *fs::directory_iterator(workplace.cache() / "leases");
  const FileDescriptor held(::open(lease.path().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_SH | LOCK_NB), 0);
  const std::string us = std::to_string(::getpid());
  const Ended gc = cache({"gc", "--max-age", "0"});
  EXPECT_EQ(gc.status, 0) << gc.said();
  EXPECT_THAT(gc.output, HasSubstr("(in use by process " + us + " ("));
  const Ended document = cache({"gc", "--max-age", "0", "--json"});
  const Json& kept = document.document["kept"].as_array().at(0);
  EXPECT_EQ(kept["why"].as_string(), "in use");
  EXPECT_EQ(kept["holder"]["process"].as_integer(), ::getpid());
  EXPECT_EQ(kept["holder"]["file"].as_string(), lease.path().native());
  EXPECT_TRUE(document.document["maker"].is_null());
  const Ended removed = cache({"remove", "reference-good"});
  EXPECT_EQ(removed.status, 7) << removed.said();
  EXPECT_THAT(removed.error, HasSubstr("in use by process " + us));
  EXPECT_EQ(installed(), 1u);
}

TEST_F(CacheCommands, GcKeepsAPinnedBuild) {
  EXPECT_EQ(cache({"pin", "reference-good"}).status, 0);
  const Ended kept = cache({"gc", "--max-size", "0", "--json"});
  EXPECT_EQ(kept.document["kept"].as_array().at(0)["why"].as_string(), "pinned") << kept.said();
  EXPECT_EQ(installed(), 1u);
  EXPECT_THAT(cache({"unpin", "reference-good"}).output, HasSubstr("is no longer pinned"));
  EXPECT_THAT(cache({"unpin", "reference-good"}).output, HasSubstr("was not pinned"));
  EXPECT_EQ(cache({"gc", "--max-age", "0"}).status, 0);
  EXPECT_EQ(installed(), 0u);
  EXPECT_NE(cache({"pin", "reference-good", "--json"}).status, 0) << "it is not installed";
}

// The report does not call files intact that were not read.
TEST_F(CacheCommands, VerifyReportsWhatItChecked) {
  const Ended looked = cache({"verify"});
  EXPECT_EQ(looked.status, 0) << looked.said();
  EXPECT_THAT(looked.output,
              HasSubstr("with its size, kind and mode; bytes were read only where times differ"));
  const Ended read = cache({"verify", "--deep"});
  EXPECT_EQ(read.status, 0) << read.said();
  EXPECT_THAT(read.output, HasSubstr("every byte is right"));
}

// The layer is searched first, and only a user who may write there repairs it.
TEST_F(CacheCommands, VerifyDoesNotClaimToRepairABuildOfALayer) {
  const fs::path layer = workplace.folder() / "layer";
  fs::copy(workplace.cache(), layer, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("system_layers", Json::array().push(layer.native())));
  const fs::path damaged = layer / library().lexically_relative(workplace.cache());
  fs::permissions(damaged, fs::perms::owner_write, fs::perm_options::add);
  write_text(damaged, "x");
  const std::string remedy = "engine-cache verify --deep --repair reference-good --cache " + layer.native();
  // With a good copy in the user's cache, and without.
  for (const bool own : {true, false}) {
    SCOPED_TRACE(own);
    if (!own) {
      ASSERT_EQ(cache({"remove", "reference-good"}).status, 0);
      const Ended pinned = cache({"pin", "reference-good"});
      EXPECT_EQ(pinned.status, 2);
      EXPECT_THAT(pinned.error, HasSubstr("reference-good is in the read-only layer " + layer.native()));
      EXPECT_THAT(pinned.error, testing::Not(HasSubstr("did you mean")));
    }
    for (const char* flag : {"--deep", "--repair"}) {
      const Ended ended = cache({"verify", flag});
      EXPECT_EQ(ended.status, 5) << ended.said();
      EXPECT_THAT(ended.output, testing::Not(HasSubstr("repaired\n")));
      EXPECT_THAT(ended.error, HasSubstr(remedy));
      EXPECT_THAT(ended.error, testing::Not(HasSubstr("fetches the damaged files")));
    }
    EXPECT_THAT(cache({"verify", "--repair"}).output, HasSubstr("not repaired: it lies in the layer"));
  }
  // As the remedy says it: the layer stays configured.
  const Ended repaired = cache({"--cache", layer.native(), "verify", "--deep", "--repair", "reference-good",
                                "--repository", location, "--json"});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  const Json& build = repaired.document["builds"].as_array().at(0);
  EXPECT_TRUE(build["repaired"].as_bool() && build["read_only_layer"].is_null()) << repaired.said();
  EXPECT_THAT(cache({"--cache", layer.native(), "list"}).output, testing::Not(HasSubstr("read-only")));
}

TEST_F(CacheCommands, RepairsAFileInPlaceOfTheViewAndOpens) {
  const std::vector<std::string> opening = {"reference", "--repository", location};
  for (const bool repair : {true, false}) {
    fs::remove_all(view);
    write_text(view, "x");
    const Ended ended = cache({"verify"});
    EXPECT_EQ(ended.status, 6) << ended.said();
    EXPECT_THAT(ended.error, HasSubstr(view.native() + " is a file, not a folder"));
    if (repair) {
      EXPECT_EQ(cache({"verify", "--repair"}).status, 0);
    }
    const Ended opened = workplace.info(opening);
    EXPECT_EQ(opened.status, 0) << opened.said();
    EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
  }
}

TEST_F(CacheCommands, RepairsAFolderInPlaceOfAListOrARecord) {
  for (const char* folder : {"lists", "refs"}) {
    SCOPED_TRACE(folder);
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(workplace.cache() / folder))
      if (file.path().filename().native().find("of-") != 0) files.push_back(file.path());
    for (const fs::path& file : files) {
      fs::remove(file);
      write_text(file / "x", "x");
    }
    EXPECT_EQ(cache({"verify"}).status, 6);
    const Ended repaired = cache({"verify", "--repair", "--repository", location});
    EXPECT_EQ(repaired.status, 0) << repaired.said();
    EXPECT_EQ(workplace.info({"reference", "--repository", location}).status, 0);
    EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
  }
}

TEST_F(CacheCommands, GcUsesTheConfiguredBound) {
  workplace.configure(Json::object().set("repositories_default", false).set("cache_max_bytes", 1));
  const Ended gc = cache({"gc", "--json"});
  ASSERT_EQ(gc.status, 0) << gc.said();
  EXPECT_EQ(gc.document["max_bytes"].as_integer(), 1);
  EXPECT_EQ(installed(), 0u);
}

TEST_F(CacheCommands, RefusesAMalformedSizeOrAge) {
  for (const char* size : {"much", "-1", "5X", "G"})
    EXPECT_EQ(cache({"gc", "--max-size=" + std::string(size)}).status, 2) << size;
  for (const char* age : {"old", "30", "-1d"})
    EXPECT_EQ(cache({"gc", "--max-age=" + std::string(age)}).status, 2) << age;
  for (const char* size : {"20G", "1.5 GiB", "500M", "4000000000"})
    EXPECT_EQ(cache({"gc", "--max-size", size}).status, 0) << size;
  EXPECT_EQ(installed(), 1u);
}

TEST_F(CacheCommands, VerifyNamesFileDamageAndTheSourceOfTheRepair) {
  const std::string right = read_text(library());
  ::chmod(library().c_str(), 0644);
  std::string wrong = right;
  wrong[wrong.size() / 2] = static_cast<char>(wrong[wrong.size() / 2] ^ 1);
  write_text(library(), wrong);
  ::chmod(library().c_str(), 0444);
  const Ended found = cache({"verify", "--deep", "--json"});
  EXPECT_EQ(found.status, 5) << found.said();
  const Json& problem = found.document["builds"].as_array().at(0)["problems"].as_array().at(0);
  EXPECT_THAT(problem["file"].as_string(), HasSubstr("libengine_reference.so"));
  EXPECT_EQ(problem["problem"].as_string(), "wrong bytes");
  const Ended repaired = cache({"verify", "--deep", "--repair", "--repository", location, "--json"});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  EXPECT_TRUE(repaired.document["builds"].as_array().at(0)["repaired"].as_bool());
  EXPECT_EQ(read_text(library()), right);
  EXPECT_EQ(cache({"verify", "--deep"}).status, 0);
}

TEST_F(CacheCommands, VerifyReportsWhyARepairFailed) {
  ::chmod(library().c_str(), 0644);
  write_text(library(), "short");
  ::chmod(library().c_str(), 0444);
  fs::remove_all(repository.root());
  const Ended left = cache({"verify", "--repair"});
  EXPECT_EQ(left.status, 5) << left.said();
  EXPECT_THAT(left.output, HasSubstr("reference-good  not repaired: ")) << left.said();
  EXPECT_THAT(left.output, HasSubstr("reference-good  stays damaged and is not opened until"));
  EXPECT_THAT(left.said(), testing::Not(HasSubstr("EH-N15")));
  EXPECT_THAT(left.error, HasSubstr("the damaged files could not be fetched again (EH-N14)"));
  EXPECT_THAT(left.said(), testing::Not(HasSubstr("verify --deep --repair"))) << "that was just done";
}

TEST_F(CacheCommands, AMovedCacheOpensWithoutAWarning) {
  ASSERT_EQ(workplace.info({"reference", "--repository", location, "--json"}).status, 0);
  const std::string from = cache({"path"}).output;
  const fs::path old = from.substr(0, from.find('\n')), moved = workplace.folder() / "moved";
  fs::rename(old, moved);
  for (int time = 0; time < 2; ++time) {
    const Ended opened =
        workplace.info({"reference", "--repository", location, "--cache", moved.native(), "--json"});
    EXPECT_EQ(opened.status, 0) << opened.said();
    EXPECT_TRUE(opened.document["warnings"].as_array().empty()) << opened.said();
  }
}

TEST_F(CacheCommands, VerifyRepairsAWorldWritableMode) {
  ::chmod(library().c_str(), 0666);
  const Ended found = cache({"verify", "reference-good", "--json"});
  EXPECT_EQ(found.status, 5) << found.said();
  EXPECT_THAT(found.output, HasSubstr("wrong mode"));
  EXPECT_THAT(found.output, HasSubstr("verify --repair --offline restores the permissions"));
  EXPECT_THAT(found.output, Not(HasSubstr("mirror"))) << "no byte is wrong";
  EXPECT_THAT(cache({"verify"}).output,
              AllOf(HasSubstr("whole, but with other permissions"), Not(HasSubstr("damaged"))));
  const Ended repaired = cache({"verify", "--repair", "--offline", "--json"});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  EXPECT_EQ(repaired.document["builds"].as_array().at(0)["mended"].as_array().at(0)["from"].as_string(),
            "mode");
  struct stat status {};
  ASSERT_EQ(::stat(library().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0444u);
}

TEST_F(CacheCommands, VerifyReportsAWorldWritableFolder) {
  ::chmod(workplace.cache().c_str(), 0777);
  const Ended ended = cache({"verify", "--json"});
  EXPECT_EQ(ended.status, 0) << "it is a warning";
  EXPECT_EQ(ended.document["warnings"].as_array().at(0)["code"].as_string(), "EH-F22") << ended.said();
  EXPECT_THAT(cache({"verify"}).error, HasSubstr("is not trusted: everybody may write into it"));
}

TEST_F(CacheCommands, VerifyReportsL22ForANoexecMount) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root";
  const fs::path other = workplace.folder() / "other";
  fs::create_directory(other);
  RunOptions options;
  options.launcher = with_tmpfs(other, "noexec,mode=0755");
  const Ended ended = workplace.run("engine-cache", {"verify", "--cache", other.native(), "--json"}, options);
  EXPECT_THAT(ended.document["warnings"].dump(), HasSubstr("EH-L22")) << ended.said();
}

// Two builds; the better one has bytes with another digest than the manifest's.
class Fallback : public testing::Test {
 protected:
  Fallback() : repository(workplace.folder() / "repository") {
    TestBuild better = good_build("reference-better");
    better.version = "2.0.0";
    better.files.push_back({"share/more.bin", "more"});
    repository.add(good_build());
    repository.add(better);
    repository.write();
    write_text(repository.root() / "files" / repository.store("more"), "evil");
  }

  Workplace workplace;
  TestRepository repository;
};

TEST_F(Fallback, FetchNamesTheBuildItBroughtInstead) {
  const std::vector<std::string> fetch = {"fetch", "reference", "--repository", repository.root().native()};
  const Ended ended = workplace.run("engine-cache", fetch);
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.output, HasSubstr("reference-good  "));
  EXPECT_THAT(ended.output, HasSubstr("instead of\n  reference-better  EH-N08 "));
  const Ended document = workplace.run("engine-cache", {fetch[0], fetch[1], fetch[2], fetch[3], "--json"});
  ASSERT_EQ(document.status, 0) << document.said();
  const Json& fetched = document.document["fetched"].as_array().at(0);
  EXPECT_TRUE(fetched["fallback"].as_bool()) << document.said();
  ASSERT_EQ(fetched["turned_down"].as_array().size(), 1u) << document.said();
  const Json& better = fetched["turned_down"].as_array()[0];
  EXPECT_EQ(better["build"].as_string(), "reference-better");
  EXPECT_EQ(better["verdict"].as_string(), "failed");
  EXPECT_EQ(better["diagnosis"]["code"].as_string(), "EH-N08");
}

TEST_F(Fallback, AnswerNamesTheBuildItHoldsInstead) {
  const std::string request = (workplace.folder() / "board.request").native();
  ASSERT_EQ(workplace.run("engine-cache", {"request", request, "reference"}).status, 0);
  const std::vector<std::string> fulfil = {"fulfil", request, "--repository", repository.root().native()};
  const Ended ended = workplace.run("engine-cache", fulfil);
  EXPECT_EQ(ended.status, 0) << ended.said();
  EXPECT_THAT(ended.output, HasSubstr("reference-better  EH-N08 "));
  EXPECT_THAT(ended.output, HasSubstr(": reference-good instead\n"));
  const Ended document =
      workplace.run("engine-cache", {fulfil[0], fulfil[1], fulfil[2], fulfil[3], "--json"});
  ASSERT_EQ(document.status, 0) << document.said();
  const Json& answer = document.document["answers"].as_array().at(0);
  EXPECT_EQ(answer["build"].as_string(), "reference-good");
  EXPECT_EQ(answer["turned_down"].as_array().at(0)["diagnosis"]["code"].as_string(), "EH-N08")
      << document.said();
}

}  // namespace
}  // namespace enginehost::test
