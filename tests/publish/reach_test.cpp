// Libraries of a build that are not found there: lint reports what users' machines would.
#include "host/linker/machine.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/publish/fixture.hpp"
#include "tools/publish/requirements.hpp"

namespace enginehost::publish {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Reach : public PublisherTest {
 protected:
  // A library in the engine's folder that needs another one, by the name that is linked into it.
  void part(const std::string& name, const std::string& needs = {}, std::vector<std::string> flags = {}) {
    const std::string file = path_text(path_of(name).filename());
    if (flags.empty() || !flags.front().starts_with("-Wl,-soname"))
      flags.insert(flags.begin(), "-Wl,-soname," + file);
    if (!needs.empty())
      flags.insert(flags.end(), {"-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined",
                                 (folder() / "toy" / needs).native()});
    library("toy/" + name, "int part(void) { return 1; }", flags);
  }
  void plugin(const std::string& needs, const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"-Wl,--no-as-needed"};
    if (!needs.empty()) flags.push_back((folder() / "toy" / needs).native());
    flags.insert(flags.end(), more.begin(), more.end());
    library(plugin_name,
            "extern const char engine_plugin_v1[64]; const char engine_plugin_v1[64] = \"ENGPLUG\";", flags);
  }
  // Adds the toy engine with these folders to search.
  void added(const std::vector<std::string>& search, const std::vector<std::string>& lazy = {}) {
    AddRequest toy = request();
    toy.lazy = lazy;
    const auto done = publish::add(workspace(), toy);
    ASSERT_TRUE(done) << done.error().value(Key::problem);
    Json manifest = *parse_json(bytes_of(workspace().engine_file("toy")), "toy");
    Json build = manifest["builds"].as_array()[0];
    manifest.set("builds", Json::array().push(build.set("search", Json::strings(search))));
    write("repository/engines/toy.json", manifest.dump(1));
  }
  std::vector<std::string> warnings() const {
    std::vector<std::string> all;
    for (const Diagnosis& one : lint(workspace()).warnings) all.emplace_back(one.value(Key::problem));
    return all;
  }
  std::string remedy() const {
    const LintFindings found = lint(workspace());
    return found.errors.empty() ? "" : std::string(found.errors.front().value(Key::remedy));
  }
  // The verdict of a user's machine about the same files in one view.
  preflight::Verdict verdict(const std::vector<std::string>& search,
                             const std::vector<std::string>& lazy = {}) {
    const fs::path view = folder() / "view";
    fs::remove_all(view);
    fs::copy(folder() / "toy", view, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::copy_file(folder() / plugin_name, view / plugin_name);
    preflight::Spec spec;
    spec.view = view;
    spec.plugin = view / plugin_name;
    for (const std::string& one : search) spec.search.push_back(view / one);
    spec.lazy = lazy;
    spec.machine = linker::describe_this_machine();
    spec.plugin_header = false;
    return preflight::check(spec).verdict;
  }
};

TEST_F(Reach, ALibraryOutsideTheSearchedFoldersIsAnError) {
  part("far/libfar.so.3");
  part("lib/libmore.so", "far/libfar.so.3");
  plugin("lib/libmore.so");
  added({"lib"});
  EXPECT_EQ(problems(),
            "builds.toy-1.0.0-cpu-" + platform() +
                ".search: lib/libmore.so needs libfar.so.3, which lies in far/libfar.so.3: no folder of "
                "\"search\" leads there, nor does a path of its own\n");
  EXPECT_EQ(remedy(),
            "add \"far\" to \"search\", or name libfar.so.3 in requires.libraries if the system brings it");
  EXPECT_EQ(verdict({"lib"}), preflight::Verdict::fails);
  EXPECT_FALSE(publish::publish(workspace(), out(), in_2026));
  added({"lib", "far"});
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(verdict({"lib", "far"}), preflight::Verdict::loads);
}

// Each layout is checked twice: by lint from the facts, and by preflight from the files.
TEST_F(Reach, LintAgreesWithAUsersMachine) {
  const std::string beside = "-Wl,--enable-new-dtags,-rpath,$ORIGIN/../far";
  const struct {
    const char* what;
    std::vector<std::string> search;
    std::vector<std::string> flags;  // of lib/libmore.so, which needs far/libfar.so.3
    bool plugin_needs_it;
    std::vector<std::string> lazy;
    preflight::Verdict verdict;
  } layouts[] = {
      {"a RUNPATH of its own", {"lib"}, {beside}, true, {}, preflight::Verdict::loads},
      {"an RPATH of its own",
       {"lib"},
       {"-Wl,--disable-new-dtags,-rpath,$ORIGIN/../far"},
       true,
       {},
       preflight::Verdict::loads},
      {"a RUNPATH that leads elsewhere",
       {"lib"},
       {"-Wl,-rpath,$ORIGIN/../fra"},
       true,
       {},
       preflight::Verdict::fails},
      {"a RUNPATH without $ORIGIN",
       {"lib"},
       {"-Wl,-rpath,/opt/toy/far"},
       true,
       {},
       preflight::Verdict::fails},
      {"opened at run time only", {"lib"}, {}, false, {}, preflight::Verdict::unsure},
      {"opened at run time, and said so", {"lib"}, {}, false, {"libmore.so"}, preflight::Verdict::fails},
      {"opened at run time, in reach", {"lib", "far"}, {}, false, {"libmore.so"}, preflight::Verdict::loads},
      {"in no folder that is searched", {}, {}, false, {}, preflight::Verdict::loads},
  };
  part("far/libfar.so.3");
  for (const auto& layout : layouts) {
    SCOPED_TRACE(layout.what);
    part("lib/libmore.so", "far/libfar.so.3", layout.flags);
    plugin(layout.plugin_needs_it ? "lib/libmore.so" : "");
    fs::remove(toy());
    added(layout.search, layout.lazy);
    EXPECT_EQ(verdict(layout.search, layout.lazy), layout.verdict);
    const std::string said = "lib/libmore.so needs libfar.so.3, which lies in far/libfar.so.3";
    if (layout.verdict == preflight::Verdict::fails)
      EXPECT_THAT(problems(), HasSubstr(said));
    else
      EXPECT_THAT(problems(), IsEmpty());
    if (layout.verdict == preflight::Verdict::unsure)
      EXPECT_THAT(warnings(), ElementsAre(HasSubstr(said)));
    else
      EXPECT_THAT(warnings(), IsEmpty());
  }
}

TEST_F(Reach, TheRpathOfANeederCountsAndItsRunpathDoesNot) {
  part("far/libfar.so.3");
  part("lib/libmore.so", "far/libfar.so.3");
  fs::remove(toy());
  for (const bool rpath : {true, false}) {
    plugin("lib/libmore.so", {rpath ? "-Wl,--disable-new-dtags" : "-Wl,--enable-new-dtags",
                              "-Wl,-rpath,$ORIGIN/lib:$ORIGIN/far"});
    added({});
    EXPECT_EQ(verdict({}), rpath ? preflight::Verdict::loads : preflight::Verdict::fails);
    EXPECT_EQ(problems().empty(), rpath) << problems();
  }
}

TEST_F(Reach, LinksAreFollowedAsInAnInstallation) {
  part("far/libfar.so.3.1", "", {"-Wl,-soname,libfar.so.3"});
  fs::create_symlink("libfar.so.3.1", folder() / "toy/far/libfar.so.3");
  part("lib/libmore.so", "far/libfar.so.3", {"-Wl,-rpath,$ORIGIN/../same"});
  plugin("lib/libmore.so");
  for (const bool linked : {true, false}) {
    SCOPED_TRACE(linked);
    if (linked)
      fs::create_directory_symlink("far", folder() / "toy/same");
    else
      fs::remove(folder() / "toy/same");
    added({"lib"});
    EXPECT_EQ(verdict({"lib"}), linked ? preflight::Verdict::loads : preflight::Verdict::fails);
    EXPECT_EQ(problems().empty(), linked) << problems();
  }
}

TEST_F(Reach, ALibraryThatTheSystemHasTooMayBeUnreachable) {
  part("spare/libfar.so.3");
  part("spare/libstdc++.so.6");
  part("lib/libmore.so", "spare/libfar.so.3");
  part("lib/libwords.so", "spare/libstdc++.so.6");
  plugin("lib/libmore.so", {(folder() / "toy/lib/libwords.so").native(), "-Wl,--allow-shlib-undefined"});
  added({"lib"});
  EXPECT_THAT(problems(), AllOf(HasSubstr("needs libfar.so.3"), testing::Not(HasSubstr("libstdc++"))));
  edit("\"requires\": {", "\"requires\": {\"libraries\": [\"libfar.so.3\"],");
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(Reach, NeedsOfOptionalLibrariesAreNotReported) {
  part("far/libfar.so.3");
  part("lib/libmore.so", "far/libfar.so.3");
  plugin("");
  added({"lib"}, {"libmore.so"});
  EXPECT_THAT(problems(), HasSubstr("needs libfar.so.3"));
  edit("\"license\":", "\"optional\": [\"lib/libmore.so\"], \"license\":");
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(Reach, AFileThatIsNotALibraryIsReported) {
  part("lib/libfar.so.3");
  part("lib/libmore.so", "lib/libfar.so.3");
  plugin("lib/libmore.so");
  write("toy/lib/libfar.so.3", "version https://git-lfs.github.com/spec/v1\n");
  added({"lib"});
  EXPECT_EQ(verdict({"lib"}), preflight::Verdict::fails);
  EXPECT_THAT(
      problems(),
      HasSubstr("lib/libmore.so needs libfar.so.3, which lies in lib/libfar.so.3, and that is no library"));
}

TEST_F(Reach, ANeedThatPreloadingCannotServeHasAnotherRemedy) {
  // Needed by its file name, and with another SONAME of its own.
  part("lib/libfar.so.3");
  part("lib/libmore.so", "lib/libfar.so.3");
  part("lib/libfar.so.3", "", {"-Wl,-soname,libother.so"});
  plugin("lib/libmore.so");
  added({"lib"});
  EXPECT_EQ(verdict({"lib"}), preflight::Verdict::fails);
  EXPECT_THAT(problems(), HasSubstr("neither a RUNPATH leads there nor is it the library's own"));
  EXPECT_EQ(remedy(), "change what lib/libmore.so says: patchelf --set-rpath '$ORIGIN'");
  // Needed by a path of the machine that linked it.
  library("toy/lib/libfar.so.3", "int far_away(void) { return 1; }");
  part("lib/libmore.so", "lib/libfar.so.3");
  added({"lib"});
  const std::string path = (folder() / "toy/lib/libfar.so.3").native();
  EXPECT_THAT(problems(), HasSubstr("needs " + path + ", which lies in lib/libfar.so.3"));
  EXPECT_EQ(remedy(), "change what lib/libmore.so says: patchelf --replace-needed " + path + " libfar.so.3");
}

// Facts of a version without search paths: a library that is found anyway needs none.
TEST_F(Reach, FactsOfAnEarlierVersionAreUsedAsFarAsTheyGo) {
  part("far/libfar.so.3");
  part("lib/libmore.so", "far/libfar.so.3", {"-Wl,-rpath,$ORIGIN/../far"});
  plugin("lib/libmore.so");
  added({"lib"});
  EXPECT_THAT(warnings(), IsEmpty());
  for (const auto& file : fs::directory_iterator(repository() / "facts")) {
    const std::string text = bytes_of(file.path());
    ArtifactFacts facts = facts_from_json(*parse_json(text, "facts"));
    EXPECT_EQ(to_json(facts).dump(1) + "\n", text);
    facts.reports_paths = false;
    for (LibraryFacts& one : facts.libraries) one.runpath.reset();
    write("repository/facts/" + path_text(file.path().filename()), to_json(facts).dump());
  }
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_THAT(warnings(),
              ElementsAre(HasSubstr("lib/libmore.so needs libfar.so.3, which lies in far/libfar.so.3: "
                                    "whether anything leads there was not noted")));
  EXPECT_TRUE(publish::publish(workspace(), out(), in_2026));
  edit("\"search\": [", "\"search\": [\"far\",");
  EXPECT_THAT(warnings(), IsEmpty());
}

// Builds for other systems, from their facts.
class ReachElsewhere : public testing::Test {
 protected:
  void library(const std::string& path, const std::vector<std::string>& needed,
               const std::string& soname = {}) {
    LibraryFacts facts;
    facts.path = path;
    facts.kind = kind;
    facts.machine = machine;
    facts.needed = needed;
    facts.soname = soname;
    part.files.push_back(path);
    part.libraries.push_back(facts);
  }
  std::vector<std::string> reported(const std::vector<std::string>& search) {
    build.search = search;
    part.reports_paths = true;
    std::vector<std::string> all;
    for (const OutOfReach& one : out_of_reach(build, {part}))
      all.push_back((one.certain ? "" : "perhaps: ") + one.problem + "; " + one.remedy);
    return all;
  }
  std::string kind, machine;
  ArtifactFacts part;
  manifest::Build build;
};

TEST_F(ReachElsewhere, OnWindowsOnlySearchedFoldersCount) {
  kind = "pe";
  machine = build.arch = "x86_64";
  build.os = "windows";
  build.plugin_path = "engine_toy.dll";
  library("engine_toy.dll", {"Torch.dll", "KERNEL32.dll", "VCRUNTIME140.dll"});
  library("lib/torch.dll", {"C10.dll", "api-ms-win-crt-heap-l1-1-0.dll"});
  library("far/c10.dll", {});
  EXPECT_THAT(reported({"lib"}),
              ElementsAre("lib/torch.dll needs C10.dll, which lies in far/c10.dll: no folder of "
                          "\"search\" leads there; add \"far\" to \"search\", or name C10.dll in "
                          "requires.libraries if the system brings it"));
  EXPECT_THAT(reported({"lib", "far"}), IsEmpty());
  build.requires_.libraries = {"c10.dll"};
  EXPECT_THAT(reported({"lib"}), IsEmpty());
}

TEST_F(ReachElsewhere, OnMacosOwnPathsOrSearchedFoldersCount) {
  kind = "macho";
  machine = "x86_64+aarch64";
  build.arch = "arm64";
  build.os = "macos";
  build.plugin_path = "libengine_toy.dylib";
  library("libengine_toy.dylib", {"@rpath/libtorch.dylib", "/usr/lib/libSystem.B.dylib"});
  library("lib/libtorch.dylib", {"@rpath/libc10.dylib"}, "@rpath/libtorch.dylib");
  library("far/libc10.dylib", {}, "@rpath/libc10.dylib");
  EXPECT_THAT(reported({"lib"}),
              ElementsAre(HasSubstr("lib/libtorch.dylib needs @rpath/libc10.dylib, which lies in "
                                    "far/libc10.dylib: no folder of \"search\" leads there")));
  EXPECT_THAT(reported({"lib", "far"}), IsEmpty());
  part.libraries[1].rpath = {"@loader_path/../far"};
  EXPECT_THAT(reported({"lib"}), IsEmpty());
  // An install name that no library needs does not serve, wherever the file is.
  part.libraries[1].rpath.reset();
  part.libraries[2].soname = "/build/libc10.dylib";
  EXPECT_THAT(reported({"lib", "far"}),
              ElementsAre(HasSubstr("change what lib/libtorch.dylib says: install_name_tool -add_rpath "
                                    "@loader_path/../far")));
}

// musl knows an opened library by its path only, so it serves no name.
TEST_F(ReachElsewhere, WithMuslOnlyARunpathCounts) {
  kind = "elf";
  machine = build.arch = "x86_64";
  build.os = "linux";
  build.plugin_path = "libengine_toy.so";
  library("libengine_toy.so", {"libtoy.so", "libc.musl-x86_64.so.1"});
  library("lib/libtoy.so", {}, "libtoy.so");
  EXPECT_THAT(
      reported({"lib"}),
      ElementsAre(
          "libengine_toy.so needs libtoy.so, which lies in lib/libtoy.so: no RUNPATH leads there, and "
          "musl looks nowhere else in a build; change what libengine_toy.so says: patchelf "
          "--set-rpath '$ORIGIN/lib'"));
  part.libraries[0].runpath = {"$ORIGIN/lib"};
  EXPECT_THAT(reported({"lib"}), IsEmpty());
}

}  // namespace
}  // namespace enginehost::publish
