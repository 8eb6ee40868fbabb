// How the program that opens a library affects the search: its DT_RPATH, its folder as $ORIGIN of
// LD_LIBRARY_PATH, its raised rights. A real program opens each case too, and the loader must take the same
// "dep.so" as we do.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "base/child_process.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/search.hpp"
#include "tests/support/this_architecture.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* opener = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static int tell(struct dl_phdr_info* library, size_t size, void* nothing) {
  (void)size, (void)nothing;
  const char* slash = strrchr(library->dlpi_name, '/');
  if (slash != NULL && strcmp(slash, "/dep.so") == 0) fputs(library->dlpi_name, stdout);
  return 0;
}

/* FILE, or CALLER FILE: what FILE brings in as dep.so; with "secure", whether the rights are raised. */
int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "secure") == 0) return getauxval(AT_SECURE) != 0 ? 0 : 1;
  void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  if (library != NULL && count > 2) {
    void* (*go)(const char*) = (void* (*)(const char*))dlsym(library, "go");
    library = go(words[2]);
  }
  if (library != NULL) dl_iterate_phdr(tell, NULL);
  return library != NULL ? 0 : 1;
}
)";

class OpenedByAProgram : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    if (describe_this_machine().architecture != test::architecture ||
        describe_this_machine().libc != Libc::glibc)
      GTEST_SKIP() << "the fixtures are for glibc on x86-64 and arm64";
    write("opener.c", opener);
    part("link/dep.so");
    engine_ = part("engine/engine.so", {"link/dep.so"});
  }

  std::filesystem::path program(const std::string& name, const std::vector<std::string>& flags = {}) const {
    std::filesystem::create_directories((folder() / name).parent_path());
    std::vector<std::string> command{"gcc", "-o", in(name), in("opener.c")};
    command.insert(command.end(), flags.begin(), flags.end());
    run(command);
    return folder() / name;
  }
  std::filesystem::path part(const std::string& name, const std::vector<std::string>& needs = {},
                             const std::vector<std::string>& more = {},
                             const std::string& source = "int f;\n") const {
    std::vector<std::string> flags{"-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined",
                                   "-Wl,-soname," + std::filesystem::path(name).filename().native()};
    for (const std::string& need : needs) flags.push_back(in(need));
    flags.insert(flags.end(), more.begin(), more.end());
    return library(name, source, flags);
  }
  std::string in(const std::string& name) const { return (folder() / name).native(); }

  // The dep.so that the loader takes, "" when it refuses the file.
  std::string taken_by_loader(const std::filesystem::path& program, const std::filesystem::path& file,
                              const std::string& library_path = {}, const std::string& caller = {}) const {
    ChildRequest request;
    request.argv = {program.native()};
    if (!caller.empty()) request.argv.push_back(caller);
    request.argv.push_back(file.native());
    request.environment = {library_path.empty() ? "LD_LIBRARY_PATH" : "LD_LIBRARY_PATH=" + library_path,
                           "LD_PRELOAD"};
    const Result<ChildOutcome> outcome = run_child(request);
    EXPECT_TRUE(outcome && (outcome->exit_code == 0 || outcome->exit_code == 1));
    return outcome && outcome->exit_code == 0 ? outcome->output : std::string();
  }
  static Machine machine_of(const std::filesystem::path& program, const std::string& library_path = {}) {
    Machine machine = describe_this_machine();
    machine.program = program;
    machine.library_path = split_library_path(library_path);
    return machine;
  }
  static std::string taken(const Machine& machine, const std::filesystem::path& file) {
    Request request;
    request.file = file;
    Reader reader(machine.root);
    const Closure closure = close(machine, request, reader);
    const Object* dep = closure.find("dep.so");
    return dep != nullptr && closure.loads() ? dep->path : std::string();
  }
  // Both must agree.
  std::string both(const std::filesystem::path& program, const std::filesystem::path& file,
                   const std::string& library_path = {}) const {
    const std::string ours = taken(machine_of(program, library_path), file);
    EXPECT_EQ(ours, taken_by_loader(program, file, library_path)) << library_path;
    return ours;
  }

  std::filesystem::path engine_;
};

const std::vector<std::string> old_style{"-Wl,--disable-new-dtags"}, new_style{"-Wl,--enable-new-dtags"};

std::vector<std::string> with_path(const std::string& path, std::vector<std::string> style) {
  style.push_back("-Wl,-rpath," + path);
  return style;
}

TEST_F(OpenedByAProgram, ItsRPATHServesEveryNeederThatHasNoRUNPATH) {
  part("home/lib/dep.so");
  part("other/dep.so");
  const auto old_program = program("home/bin/old", with_path("$ORIGIN/../lib", old_style));
  EXPECT_EQ(both(program("home/bin/plain"), engine_), "");
  EXPECT_EQ(both(old_program, engine_), in("home/bin/../lib/dep.so"));
  // Before the variable, after the needer's own.
  EXPECT_EQ(both(old_program, engine_, in("other")), in("home/bin/../lib/dep.so"));
  EXPECT_EQ(both(old_program, part("own.so", {"link/dep.so"}, with_path(in("other"), old_style))),
            in("other/dep.so"));
  // It is ignored for a needer with RUNPATH, and when the program has a RUNPATH too.
  EXPECT_EQ(both(old_program, part("new.so", {"link/dep.so"}, with_path(in("none"), new_style))), "");
  EXPECT_EQ(both(program("home/bin/new", with_path("$ORIGIN/../lib", new_style)), engine_), "");
  // Needs further down are searched in the same way.
  part("home/lib/middle.so", {"link/dep.so"});
  EXPECT_EQ(both(old_program, part("top.so", {"home/lib/middle.so"})), in("home/bin/../lib/dep.so"));
  const Machine machine = machine_of(old_program);
  Request request;
  request.file = engine_;
  Reader reader;
  EXPECT_EQ(close(machine, request, reader).find("dep.so")->found_by, "RPATH of " + old_program.native());
}

TEST_F(OpenedByAProgram, TheRPATHsOfTheWholeChainAreSearchedNearestFirst) {
  for (const char* where : {"r0", "r1", "r2", "r3"}) part(std::string(where) + "/dep.so");
  part("lib/leaf.so", {"link/dep.so"}, with_path(in("r3"), old_style));
  part("lib/middle.so", {"lib/leaf.so"}, with_path(in("r2") + ":" + in("lib"), old_style));
  const auto top = part("top.so", {"lib/middle.so"}, with_path(in("r1") + ":" + in("lib"), old_style));
  const auto home = program("home", with_path(in("r0"), old_style));
  const std::string variable = in("variable");
  part("variable/dep.so");
  Machine machine = machine_of(home, variable);
  for (const char* where : {"r3", "r2", "r1", "r0", "variable"}) {
    EXPECT_EQ(both(home, top, variable), in(std::string(where) + "/dep.so"));
    std::filesystem::remove(folder() / where / "dep.so");
  }
  // Each folder is reported with the file that names it.
  Request request;
  request.file = top;
  Reader reader;
  machine.cache = {};
  machine.default_directories.clear();
  const Closure closure = close(machine, request, reader);
  ASSERT_EQ(closure.missing.size(), 1u);
  std::vector<std::string> reported;
  for (const Searched& one : closure.missing[0].searched) reported.push_back(one.directory + " " + one.why);
  EXPECT_THAT(reported, ElementsAre(in("r3") + " RPATH of leaf.so", in("r2") + " RPATH of middle.so",
                                    in("lib") + " RPATH of middle.so", in("r1") + " RPATH of top.so",
                                    in("r0") + " RPATH of home", variable + " LD_LIBRARY_PATH"));
}

// It has no needer, so the plugin's RPATH does not apply.
TEST_F(OpenedByAProgram, TheRPATHOfAPluginDoesNotServeEarlierLibraries) {
  part("r1/dep.so");
  part("variable/dep.so");
  const auto middle = part("lib/middle.so", {"link/dep.so"});
  const auto top = part("top.so", {"lib/middle.so"}, with_path(in("r1") + ":" + in("lib"), old_style));
  const auto plain = program("plain");
  const std::string variable = in("variable");
  EXPECT_EQ(both(plain, top, variable), in("r1/dep.so"));
  const auto twice =
      library("twice.so", "#include <dlfcn.h>\nvoid* go(const char* file) { return dlopen(\"" +
                              middle.native() + "\", RTLD_NOW) ? dlopen(file, RTLD_NOW) : 0; }\n");
  Request request;
  request.file = top;
  request.preloaded = {middle};
  Reader reader;
  const Closure closure = close(machine_of(plain, variable), request, reader);
  ASSERT_NE(closure.find("dep.so"), nullptr);
  EXPECT_EQ(closure.find("dep.so")->path, in("variable/dep.so"));
  EXPECT_EQ(taken_by_loader(plain, top, variable, twice), in("variable/dep.so"));
}

TEST_F(OpenedByAProgram, TheRPATHOfTheCallerOfDlopenIsIgnored) {
  part("beside/dep.so");
  const auto caller = library(
      "caller.so", "#include <dlfcn.h>\nvoid* go(const char* file) { return dlopen(file, RTLD_NOW); }\n",
      with_path(in("beside"), old_style));
  const auto plain = program("plain");
  EXPECT_EQ(taken_by_loader(plain, engine_, {}, caller), "");
  EXPECT_EQ(taken_by_loader(plain, engine_, in("beside"), caller), in("beside/dep.so"));
  EXPECT_EQ(taken(machine_of(plain), engine_), "");
}

TEST_F(OpenedByAProgram, TokensOfTheVariableStandForTheProgramsFolder) {
  const auto plain = program("bin/plain");
  part("bin/libs/dep.so");
  for (const char* element : {"$ORIGIN/libs", "${ORIGIN}/libs", "$ORIGIN/libs/", "/none:$ORIGIN/./libs"})
    EXPECT_NE(both(plain, engine_, element), "") << element;
}

TEST_F(OpenedByAProgram, ATokenNameMustEnd) {
  const auto plain = program("bin/plain");
  const std::vector<std::string> no_tokens{"$ORIGINAL", "$ORIGIN_", "$ORIGIN2", "$LIB64", "$PLATFORMS",
                                           "$OTHER",    "${LIB",    "$",        "$$",     "$lib"};
  for (const std::string& element : no_tokens) {
    // Such a folder exists under this very name.
    part("odd/" + element + "/dep.so");
    EXPECT_EQ(both(plain, engine_, in("odd/" + element)), in("odd/" + element + "/dep.so"));
    std::filesystem::remove_all(folder() / "odd");
    // The folder that a token would name is not searched.
    part("binAL/dep.so");
    EXPECT_EQ(both(plain, engine_, element + "/x"), "") << element;
  }
  // Other characters may follow; after a brace even letters.
  part("bin-x/dep.so");
  part("binx/dep.so");
  EXPECT_EQ(both(plain, engine_, "$ORIGIN-x"), in("bin-x/dep.so"));
  EXPECT_EQ(both(plain, engine_, "${ORIGIN}x"), in("binx/dep.so"));
  const std::string lib = describe_this_machine().lib;
  part("odd/" + lib + "/dep.so");
  EXPECT_EQ(both(plain, engine_, in("odd") + "/$LIB"), in("odd/" + lib + "/dep.so"));
}

TEST_F(OpenedByAProgram, AKnownTokenWithoutAValueMakesItsElementUseless) {
  const Machine nobody = machine_of({}, "$ORIGIN/libs:/b:x$ORIGIN:$OTHER/c");
  const std::string here = nobody.current_directory.native();
  EXPECT_THAT(library_path_folders(nobody), ElementsAre("/b", here + "/$OTHER/c"));
}

TEST_F(OpenedByAProgram, WithRaisedRightsORIGINIsRestrictedForPrograms) {
  Machine machine = machine_of("/opt/app/bin/run", "/env");
  machine.secure = true;
  machine.default_directories = {"/lib64", "/usr/lib64"};
  machine.lib = "lib64";
  machine.platform = "x86_64";
  const Speaker library{"/opt/deps", false}, program{"/usr/lib64/app/bin", true},
      outside{"/opt/app/bin", true};
  EXPECT_EQ(expand_tokens(machine, "$ORIGIN", library), "/opt/deps");
  EXPECT_EQ(expand_tokens(machine, "${ORIGIN}/../x", library), "/opt/deps/../x");
  EXPECT_EQ(expand_tokens(machine, "/opt/$LIB/$PLATFORM", outside), "/opt/lib64/x86_64");
  for (const char* not_alone : {"/x/$ORIGIN", "$ORIGIN-x/y", "$LIB/$ORIGIN", "$ORIGIN/$ORIGIN"})
    EXPECT_EQ(expand_tokens(machine, not_alone, library), "") << not_alone;
  EXPECT_EQ(expand_tokens(machine, "$ORIGIN/..", program), "/usr/lib64/app/bin/..");
  EXPECT_EQ(expand_tokens(machine, "$ORIGIN/../../../evil", program), "");
  EXPECT_EQ(expand_tokens(machine, "$ORIGIN/../lib", outside), "");
  EXPECT_THAT(library_path_folders(machine), IsEmpty());
  machine.secure = false;
  EXPECT_EQ(expand_tokens(machine, "$ORIGIN/../lib", outside), "/opt/app/bin/../lib");
}

TEST_F(OpenedByAProgram, WithRaisedRightsTheLoaderAgrees) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program with raised rights here";
  // A group of its own raises the rights of every user who starts it.
  constexpr gid_t group = 54321;
  if (::chown(write("owned", "").c_str(), 0, group) != 0 && errno == EINVAL)
    GTEST_SKIP() << "this namespace has no other group";
  const auto raised = [&](const std::string& name, const std::vector<std::string>& flags) {
    const auto made = program(name, flags);
    EXPECT_EQ(::chown(made.c_str(), 0, group), 0);
    std::filesystem::permissions(made, std::filesystem::perms::set_gid, std::filesystem::perm_options::add);
    return made;
  };
  const auto plain = raised("bin/plain", {});
  ChildRequest ask;
  ask.argv = {plain.native(), "secure"};
  if (const auto outcome = run_child(ask); !outcome || outcome->exit_code != 0)
    GTEST_SKIP() << "this file system does not raise rights";
  const auto same = [&](const std::filesystem::path& by, const std::filesystem::path& file,
                        const std::string& library_path = {}) {
    Machine machine = machine_of(by, library_path);
    machine.secure = true;
    const std::string ours = taken(machine, file);
    EXPECT_EQ(ours, taken_by_loader(by, file, library_path)) << file;
    return ours;
  };
  part("deps/dep.so");
  part("bin/libs/dep.so");
  const std::string lib = describe_this_machine().lib;
  part("odd/" + lib + "/dep.so");
  EXPECT_EQ(same(plain, engine_, in("deps")), "");
  EXPECT_EQ(same(plain, part("a.so", {"link/dep.so"}, with_path("$ORIGIN/deps", new_style))),
            in("deps/dep.so"));
  EXPECT_EQ(same(plain, part("b.so", {"link/dep.so"}, with_path("$ORIGIN/deps", old_style))),
            in("deps/dep.so"));
  EXPECT_EQ(same(plain, part("c.so", {"link/dep.so"}, with_path("/$ORIGIN/deps", new_style))), "");
  EXPECT_EQ(same(plain, part("d.so", {"link/dep.so"}, with_path(in("odd/$LIB"), new_style))),
            in("odd/" + lib + "/dep.so"));
  // In the name of a need no token is allowed, with a value or not.
  const auto named = part("named.so", {"link/dep.so"});
  run({"patchelf", "--replace-needed", "dep.so", "$ORIGIN/deps/dep.so", named.native()});
  EXPECT_EQ(both(program("bin/unraised"), named), in("deps/dep.so"));
  EXPECT_EQ(same(plain, named), "");
  EXPECT_EQ(same(raised("bin/from-origin", with_path("$ORIGIN/libs", old_style)), engine_), "");
  EXPECT_EQ(same(raised("bin/from-path", with_path(in("bin/libs"), old_style)), engine_),
            in("bin/libs/dep.so"));
}

TEST_F(OpenedByAProgram, AFileThatCannotBeOpenedEndsItsListNotTheSearch) {
  const auto plain = program("plain");
  part("good/dep.so");
  part("first/dep.so");
  std::filesystem::create_directories(folder() / "loop");
  std::filesystem::create_symlink("dep.so", folder() / "loop/dep.so");
  const std::string loop_then_good = in("loop") + ":" + in("good");
  const auto rpath = part("rpath.so", {"link/dep.so"}, with_path(loop_then_good, old_style));
  const auto runpath = part("runpath.so", {"link/dep.so"}, with_path(in("good"), new_style));
  EXPECT_EQ(both(plain, rpath), "");
  EXPECT_EQ(both(plain, rpath, in("first")), in("first/dep.so"));
  EXPECT_EQ(both(plain, runpath, in("loop")), in("good/dep.so"));
  EXPECT_EQ(both(plain, runpath, loop_then_good), in("good/dep.so"));
  EXPECT_EQ(both(plain, engine_, loop_then_good), "");
  // A socket cannot be opened either.
  std::filesystem::create_directories(folder() / "socket");
  ASSERT_EQ(::mknod((folder() / "socket/dep.so").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(both(plain, runpath, in("socket")), in("good/dep.so"));
  EXPECT_EQ(both(plain, engine_, in("socket") + ":" + in("good")), "");
  // The folder itself counts, not its subfolders for processors.
  std::filesystem::create_directories(folder() / "first/glibc-hwcaps/x86-64-v2");
  std::filesystem::create_symlink("dep.so", folder() / "first/glibc-hwcaps/x86-64-v2/dep.so");
  EXPECT_EQ(both(plain, engine_, in("first")), in("first/dep.so"));
  // Reported, because it is the reason why nothing was found.
  Request request;
  request.file = rpath;
  Reader reader;
  const Machine machine = machine_of(plain);
  const Closure closure = close(machine, request, reader);
  const std::vector<Diagnosis> reported = diagnose_closure(machine, closure);
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0].code, "EH-F11");
  EXPECT_EQ(reported[0].value(Key::problem), "link loop");
  EXPECT_FALSE(closure.missing.empty());
}

// The result of the program below.
TEST(ProgramWithPreloads, DISABLED_PrintsThem) {
  std::ofstream text(std::getenv("ENGINEHOST_TEST_TEXT"));
  for (const LoadedLibrary& library : preloaded_libraries())
    text << library.path.native() << (library.global ? "\n" : ", not global\n");
}

TEST_F(OpenedByAProgram, PreloadsOfTheEnvironmentAreListedWithTheirNeeds) {
  const auto deep = part("preload/deep.so");
  part("preload/dep.so", {"preload/deep.so"}, {"-Wl,-rpath,$ORIGIN"});
  const auto reported = [&](const std::string& preload, const std::string& library_path = {}) {
    ChildRequest child;
    child.argv = {executable_path(), "--gtest_filter=ProgramWithPreloads.*",
                  "--gtest_also_run_disabled_tests"};
    child.environment = {"ENGINEHOST_TEST_TEXT=" + in("printed"), "LD_PRELOAD=" + preload,
                         "LD_LIBRARY_PATH=" + library_path,
                         // A sanitizer's runtime must come before preloaded libraries.
                         "ASAN_OPTIONS=verify_asan_link_order=0"};
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded());
    std::vector<std::string> lines = split(bytes_of(folder() / "printed"), '\n');
    std::erase(lines, "");
    return lines;
  };
  EXPECT_THAT(reported(""), IsEmpty());
  const std::vector<std::string> both_files{in("preload/dep.so"), in("preload/deep.so")};
  EXPECT_EQ(reported(in("preload/dep.so")), both_files);
  EXPECT_EQ(reported("dep.so:/none/x.so", in("preload")), both_files);
  EXPECT_THAT(reported(in("preload/deep.so")), ElementsAre(deep.native()));
  // A need of that name is then served, as by the loader.
  Machine machine = machine_of(program("plain"));
  EXPECT_EQ(taken(machine, engine_), "");
  machine.loaded = {{"dep.so", in("preload/dep.so")}, {"deep.so", deep}};
  EXPECT_EQ(taken(machine, engine_), in("preload/dep.so"));
}

TEST(GlibcHwcaps, ExistSinceGlibc233) {
  EXPECT_THAT(glibc_hwcaps_of_x86_64("2.31", 15), IsEmpty());
  EXPECT_THAT(glibc_hwcaps_of_x86_64("2.32", 15), IsEmpty());
  EXPECT_THAT(glibc_hwcaps_of_x86_64("2.33", 7), ElementsAre("x86-64-v3", "x86-64-v2"));
  EXPECT_THAT(glibc_hwcaps_of_x86_64("2.41", 15), ElementsAre("x86-64-v4", "x86-64-v3", "x86-64-v2"));
  EXPECT_THAT(glibc_hwcaps_of_x86_64("", 3), ElementsAre("x86-64-v2"));
}

TEST(LibraryPath, IsSplitAsTheMachinesLibcDoes) {
  Machine machine;
  machine.program = "/opt/app/bin/run";
  machine.current_directory = "/here";
  machine.library_path = {"/a", "", "b/", "$ORIGIN/../lib"};
  EXPECT_THAT(library_path_folders(machine), ElementsAre("/a", "/here", "/here/b", "/opt/app/bin/../lib"));
  EXPECT_THAT(library_path_folders(machine, "/a;;/b"), ElementsAre("/a", "/here", "/b"));
  machine.libc = Libc::musl;
  EXPECT_THAT(library_path_folders(machine, "/a;x::b:$ORIGIN\n/c"),
              ElementsAre("/a;x", "/here/b", "/here/$ORIGIN", "/c"));
}

}  // namespace
}  // namespace enginehost::linker
