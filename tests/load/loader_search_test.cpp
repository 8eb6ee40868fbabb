// A library that is not found: the searches that glibc's loader reports, compared with those of the
// preflight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "host/linker/linker.hpp"
#include "host/load/probe_outcome.hpp"
#include "tests/load/probe_request.hpp"

namespace enginehost::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LoaderSearchOf : public ::testing::Test {
 protected:
  ProbeRequest request(const std::filesystem::path& plugin) { return probe_request(workshop_, plugin); }
  // A plugin that needs libmiddle.so, which needs libgone.so.2, which was removed.
  std::filesystem::path plugin_without_its_end(const std::string& middle_flags) {
    const std::string here = " -Wl,--no-as-needed -L" + faults::quoted(workshop_.folder());
    const auto gone = workshop_.library("libgone.so.2", "int g(void){return 1;}", "-Wl,-soname,libgone.so.2");
    workshop_.library("libmiddle.so", "int m(void){return 1;}",
                      "-Wl,-soname,libmiddle.so" + here + " -l:libgone.so.2 " + middle_flags);
    const auto plugin =
        workshop_.plugin("libengine_x.so", here + " -l:libmiddle.so -l:libgone.so.2 -Wl,-rpath,'$ORIGIN'" +
                                               " -Wl,-rpath-link," + faults::quoted(workshop_.folder()));
    workshop_.remove(gone);
    return plugin;
  }
  static std::vector<std::string> all(const Diagnosis& diagnosis, std::string_view what) {
    std::vector<std::string> values;
    for (const Evidence& fact : diagnosis.evidence)
      if (fact.name() == what) values.push_back(fact.value);
    return values;
  }
  // The existing folders that the loader searches for the missing library, according to the preflight.
  std::vector<std::string> reconstructed(const std::filesystem::path& plugin, const std::string& name,
                                         linker::Machine machine = linker::describe_this_machine()) {
    linker::Reader reader;
    linker::Request wanted;
    wanted.file = plugin;
    machine.program = ENGINEHOST_PROBE;
    const linker::Closure closure = linker::close(machine, wanted, reader);
    std::vector<std::string> folders;
    for (const linker::Missing& missing : closure.missing)
      for (const linker::Searched& place : missing.searched)
        if (missing.name == name && place.exists && place.directory != machine.cache_file)
          folders.push_back(place.directory);
    return folders;
  }
  // The loader tries a folder once even if it does not exist.
  static std::vector<std::string> existing(std::vector<std::string> folders) {
    std::erase_if(folders, [](const std::string& folder) { return !std::filesystem::is_directory(folder); });
    return folders;
  }
  faults::Workshop workshop_;
};

TEST_F(LoaderSearchOf, L01ADirectNeedIsSearchedAsPreflightSays) {
  const auto plugin = plugin_without_its_end("");
  workshop_.library("libmiddle.so", "int m(void){return 1;}", "-Wl,-soname,libmiddle.so");
  const ProbeResult result = probe(request(plugin));
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->value(Key::loader_asked_for), "libgone.so.2");
  EXPECT_EQ(result.diagnosis->value(Key::loader_asked_by), plugin.native());
  const auto searched = all(*result.diagnosis, "loader_searched");
  ASSERT_FALSE(searched.empty()) << result.diagnosis->value(Key::loader_search_left_out);
  EXPECT_EQ(searched.front(), workshop_.folder().native());
  EXPECT_EQ(existing(searched), reconstructed(plugin, "libgone.so.2"));
}

TEST_F(LoaderSearchOf, L02TheNeederIsNamedAndItsOwnPathCounts) {
  std::filesystem::create_directory(workshop_.folder() / "beside");
  const auto plugin =
      plugin_without_its_end("-Wl,-rpath,'$ORIGIN/beside:$ORIGIN/nowhere' -Wl,--enable-new-dtags");
  const ProbeResult result = probe(request(plugin));
  ASSERT_TRUE(result.diagnosis);
  // Breadth first: the plugin's own need comes before those of its dependencies.
  EXPECT_EQ(result.diagnosis->value(Key::loader_asked_by), plugin.native());
  const auto deep = workshop_.plugin("libengine_y.so",
                                     "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) +
                                         " -l:libmiddle.so -Wl,-rpath,'$ORIGIN' -Wl,--allow-shlib-undefined");
  const ProbeResult second = probe(request(deep));
  ASSERT_TRUE(second.diagnosis);
  EXPECT_EQ(second.diagnosis->value(Key::loader_asked_by), workshop_.path("libmiddle.so").native());
  const auto searched = all(*second.diagnosis, "loader_searched");
  ASSERT_FALSE(searched.empty());
  EXPECT_EQ(searched.front(), (workshop_.folder() / "beside").native());
  EXPECT_EQ(existing(searched), reconstructed(deep, "libgone.so.2"));
}

TEST_F(LoaderSearchOf, L02AnInheritedRpathIsSearchedAsPreflightSays) {
  plugin_without_its_end("");
  const auto plugin = workshop_.plugin(
      "libengine_y.so",
      "-Wl,--no-as-needed -L" + faults::quoted(workshop_.folder()) +
          " -l:libmiddle.so -Wl,-rpath,'$ORIGIN' -Wl,--disable-new-dtags -Wl,--allow-shlib-undefined");
  const ProbeResult result = probe(request(plugin));
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->value(Key::loader_asked_by), workshop_.path("libmiddle.so").native());
  const auto searched = all(*result.diagnosis, "loader_searched");
  ASSERT_FALSE(searched.empty());
  EXPECT_EQ(searched.front(), workshop_.folder().native());
  EXPECT_EQ(existing(searched), reconstructed(plugin, "libgone.so.2"));
}

TEST_F(LoaderSearchOf, TheRecheckKeepsTheLoadersMessage) {
  const auto plugin = plugin_without_its_end("");
  preflight::Spec spec;
  spec.view = workshop_.folder();
  spec.plugin = plugin;
  spec.machine = linker::describe_this_machine();
  const ProbeResult result = probe(request(plugin));
  ASSERT_TRUE(result.diagnosis);
  const Diagnosis better = recheck(*result.diagnosis, spec);
  EXPECT_EQ(better.code, "EH-L01");
  EXPECT_EQ(all(better, "loader_searched"), all(*result.diagnosis, "loader_searched"));
  EXPECT_EQ(better.value(Key::loader_asked_by), plugin.native());
}

TEST_F(LoaderSearchOf, ABuildThatFailsOtherwiseIsNotRunAgain) {
  const ProbeResult result = probe(
      request(workshop_.library("libengine_x.so", "int missing(void); int f(void){return missing();}")));
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-L12");
  EXPECT_EQ(result.diagnosis->value(Key::loader_asked_for), "");
  EXPECT_EQ(result.diagnosis->value(Key::loader_search_left_out), "");
}

TEST_F(LoaderSearchOf, WithoutTheAuditLibraryTheOmissionIsReported) {
  ProbeRequest alone = request(plugin_without_its_end(""));
  std::filesystem::create_directory(workshop_.folder() / "elsewhere");
  alone.helper = workshop_.folder() / "elsewhere" / "enginehost-probe";
  std::filesystem::copy_file(ENGINEHOST_PROBE, alone.helper);
  const ProbeResult result = probe(alone);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->code, "EH-L01");
  EXPECT_THAT(all(*result.diagnosis, "loader_searched"), IsEmpty());
  EXPECT_THAT(std::string(result.diagnosis->value(Key::loader_search_left_out)),
              HasSubstr("enginehost_audit.so does not exist"));
}

TEST_F(LoaderSearchOf, BehindALauncherTheOmissionIsReported) {
  ProbeRequest launched = request(plugin_without_its_end(""));
  launched.launcher = {"/usr/bin/env", "--"};
  const ProbeResult result = probe(launched);
  ASSERT_TRUE(result.diagnosis);
  EXPECT_EQ(result.diagnosis->value(Key::loader_search_left_out), "the probe is started by another program");
}

std::vector<std::string> folders_of(const LoaderSearch& search) {
  std::vector<std::string> folders;
  for (const LoaderSearch::Folder& folder : search.folders)
    folders.push_back(folder.rule + " " + folder.path);
  return folders;
}

TEST(LoaderSearchText, SubfoldersForProcessorsAreOneFolder) {
  const auto searches = read_loader_searches(
      "{\"stage\":\"load\"}\n"
      "audit\tn\task\tlibx.so\t/a/liby.so\n"
      "audit\tn\ttry\trunpath\t/a/glibc-hwcaps/x86-64-v3/libx.so\n"
      "audit\tn\ttry\trunpath\t/a/tls/haswell/x86_64/libx.so\n"
      "audit\tn\ttry\trunpath\t/a/tls/libx.so\n"
      "audit\tn\ttry\trunpath\t/a/libx.so\n"
      "audit\tn\ttry\tdefault\t/lib/x86_64/libx.so\n"
      "audit\tn\ttry\tdefault\t/usr/lib/libx.so\n",
      "n");
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].needed_by, "/a/liby.so");
  EXPECT_THAT(folders_of(searches[0]),
              ElementsAre("RPATH or RUNPATH /a", "default /lib/x86_64", "default /usr/lib"))
      << "a folder of such a name stays where nothing above it was tried";
}

TEST(LoaderSearchText, OnlyLinesWithTheNonceAndOfTheBuildCount) {
  const auto searches = read_loader_searches(
      "audit\tn\task\tlibc.so.6\t\n"
      "audit\tn\ttake\t/lib/libc.so.6\n"
      "{\"stage\":\"load\"}\n"
      "audit\tother\task\tlibforged.so\t/a\n"
      "audit\tn\task\tliba.so\t/x\n"
      "audit\tn\ttry\tcache\t/lib/liba.so\n"
      "audit\tn\ttake\t/lib/liba.so\n"
      "audit\tn\task\n",
      "n");
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].name, "liba.so");
  EXPECT_EQ(searches[0].taken, "/lib/liba.so");
  Diagnosis diagnosis = diagnose(Code::library_missing);
  add_loader_search(searches, diagnosis);
  EXPECT_EQ(diagnosis.value(Key::loader_asked_for), "") << "what was found is no failed search";
  EXPECT_EQ(diagnosis.value(Key::loader_search_left_out), "the loader reported no search that failed");
}

}  // namespace
}  // namespace enginehost::load
