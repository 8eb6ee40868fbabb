// The obstacles to loading a library are found before loading, with the needer, the places and the reason
// (L01 to L32 of the failure catalog). Each case is a real library; the machine is this one, or a described
// one.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "host/linker/linker.hpp"
#include "tests/support/this_architecture.hpp"
#include "tests/support/workshop.hpp"
#ifdef __linux__
#include "tests/support/posix/failing_reads.hpp"
#endif

namespace enginehost::linker {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClosureOf : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    machine_ = describe_this_machine();
    machine_.library_path.clear();
    machine_.program.clear();
    if (machine_.architecture != test::architecture || machine_.libc != Libc::glibc)
      GTEST_SKIP() << "the fixtures are for glibc on x86-64 and arm64";
  }

  // A library without the C library: its closure has only the listed needs.
  std::filesystem::path part(const std::string& name, const std::vector<std::string>& needs = {},
                             const std::vector<std::string>& more = {}) const {
    std::vector<std::string> flags{"-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined",
                                   "-Wl,-soname," + std::filesystem::path(name).filename().native()};
    for (const std::string& need : needs) flags.push_back((folder() / need).native());
    flags.insert(flags.end(), more.begin(), more.end());
    return library(name, "int f;\n", flags);
  }
  Closure close_over(const std::filesystem::path& file, std::vector<std::filesystem::path> preloaded = {}) {
    Request request;
    request.file = file;
    request.preloaded = std::move(preloaded);
    reader_ = Reader(machine_.root);
    return close(machine_, request, reader_);
  }
  std::string codes(const Closure& closure) const {
    std::string all;
    for (const Diagnosis& diagnosis : diagnose_closure(machine_, closure))
      all += (all.empty() ? "" : " ") + std::string(diagnosis.code_text());
    return all;
  }
  Diagnosis only(const Closure& closure) const {
    std::vector<Diagnosis> all = diagnose_closure(machine_, closure);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Diagnosis{} : all.front();
  }
  std::string in(const std::string& name) const { return (folder() / name).native(); }

  Machine machine_;
  Reader reader_;
};

TEST_F(ClosureOf, L01AllMissingDirectNeedsAreListedWithEveryPlaceSearched) {
  part("one.so");
  part("two.so");
  const auto engine =
      part("engine/engine.so", {"one.so", "two.so"}, {"-Wl,-rpath,$ORIGIN/deps:" + in("none")});
  std::filesystem::create_directories(folder() / "engine/deps");
  std::filesystem::remove(folder() / "one.so");
  std::filesystem::remove(folder() / "two.so");
  machine_.library_path = {in("env")};
  const Closure closure = close_over(engine);
  EXPECT_FALSE(closure.loads());
  const Diagnosis diagnosis = only(closure);
  EXPECT_EQ(diagnosis.code, "EH-L01");
  EXPECT_THAT(diagnosis.values(Key::library), ElementsAre("one.so", "two.so"));
  EXPECT_EQ(diagnosis.value(Key::needed_by), engine.native());
  ASSERT_EQ(closure.missing.size(), 2u);
  const auto& searched = closure.missing[0].searched;
  ASSERT_GE(searched.size(), 5u);
  EXPECT_EQ(searched[0].directory, in("env"));
  EXPECT_EQ(searched[0].why, "LD_LIBRARY_PATH");
  EXPECT_FALSE(searched[0].exists);
  EXPECT_EQ(searched[1].directory, in("engine/deps"));
  EXPECT_EQ(searched[1].why, "RUNPATH of engine.so");
  EXPECT_TRUE(searched[1].exists);
  EXPECT_EQ(searched[2].directory, in("none"));
  EXPECT_EQ(searched[3].why, "ld.so.cache");
  EXPECT_EQ(searched[4].why, "default");
}

TEST_F(ClosureOf, L02AMissingNeedFurtherDownComesWithItsChain) {
  part("bottom.so");
  part("middle.so", {"bottom.so"}, {"-Wl,-rpath,$ORIGIN"});
  const auto engine = part("engine.so", {"middle.so"}, {"-Wl,-rpath,$ORIGIN"});
  std::filesystem::remove(folder() / "bottom.so");
  const Diagnosis diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-L02");
  EXPECT_THAT(diagnosis.values(Key::chain), ElementsAre(engine.native(), in("middle.so")));
  EXPECT_EQ(diagnosis.value(Key::library), "bottom.so");
  EXPECT_EQ(diagnosis.value(Key::needed_by), in("middle.so"));
}

TEST_F(ClosureOf, L03ALibraryBesideOneWithoutRUNPATHIsPresentButNotFound) {
  part("bottom.so");
  part("middle.so", {"bottom.so"});
  const auto engine = part("engine.so", {"middle.so"}, {"-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags"});
  const Diagnosis diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-L03");
  EXPECT_EQ(diagnosis.value(Key::present_at), in("bottom.so"));
  // Opened first by its path, as our loader does, it serves the later need by its SONAME.
  const Closure preloaded = close_over(engine, {folder() / "bottom.so"});
  EXPECT_TRUE(preloaded.loads());
  EXPECT_EQ(preloaded.find("bottom.so")->found_by, "preloaded");
  // DT_RPATH, unlike RUNPATH, is inherited.
  const auto old_style = part("old.so", {"middle.so"}, {"-Wl,-rpath,$ORIGIN", "-Wl,--disable-new-dtags"});
  const Closure inherited = close_over(old_style);
  EXPECT_TRUE(inherited.loads());
  EXPECT_EQ(inherited.find("bottom.so")->found_by, "RPATH of " + old_style.native());
}

TEST_F(ClosureOf, L04L05ALibraryOfAnotherMachineIsNamedAsSuch) {
  if (!std::filesystem::exists("/usr/bin/clang-14") || !std::filesystem::exists("/usr/bin/ld.lld"))
    GTEST_SKIP() << "clang-14 or lld is not installed";
  const std::vector<std::string> cross{"clang-14",
                                       std::string("--target=") + test::other_architecture + "-linux-gnu",
                                       "-nostdlib", "-fuse-ld=lld"};
  const auto foreign = library("foreign.so", "int f;\n", {"-Wl,-soname,dep.so"}, cross);
  Diagnosis diagnosis = only(close_over(foreign));
  EXPECT_EQ(diagnosis.code, "EH-L04");
  EXPECT_EQ(diagnosis.value(Key::built_for), test::other_architecture);
  EXPECT_EQ(diagnosis.value(Key::machine), test::architecture);

  part("good/dep.so");
  const auto engine = part("engine.so", {"good/dep.so"}, {"-Wl,-rpath,$ORIGIN/first:$ORIGIN/second"});
  std::filesystem::remove(folder() / "good/dep.so");
  std::filesystem::create_directories(folder() / "first");
  std::filesystem::rename(foreign, folder() / "first/dep.so");
  diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-L05");
  EXPECT_EQ(diagnosis.value(Key::file), in("first/dep.so"));
  EXPECT_EQ(diagnosis.value(Key::library), "dep.so");
  EXPECT_EQ(diagnosis.value(Key::needed_by), engine.native());
  // The loader skips it, so a good one in the next folder is taken without any problem.
  part("second/dep.so");
  const Closure closure = close_over(engine);
  EXPECT_TRUE(closure.loads());
  EXPECT_EQ(codes(closure), "");
  EXPECT_EQ(closure.rejected.size(), 1u);
  EXPECT_EQ(closure.find("dep.so")->path, in("second/dep.so"));
}

TEST_F(ClosureOf, L06ALibraryOfAnotherWordSizeIsNamedAsSuch) {
  if (machine_.architecture != "x86_64") GTEST_SKIP() << "gcc -m32 is x86's";
  const auto narrow = library("narrow.so", "int f;\n", {"-nostdlib", "-m32"});
  const Diagnosis diagnosis = only(close_over(narrow));
  EXPECT_EQ(diagnosis.code, "EH-L06");
  EXPECT_EQ(diagnosis.value(Key::built_for), "i386");
  EXPECT_EQ(diagnosis.value(Key::built_for_bits), "32");
}

TEST_F(ClosureOf, ADamagedDependencyEndsTheSearchAsInTheLoader) {
  part("good/dep.so");
  const auto engine = part("engine.so", {"good/dep.so"}, {"-Wl,-rpath,$ORIGIN/first:$ORIGIN/good"});
  const std::string whole = bytes_of(folder() / "good/dep.so");
  struct Case {
    std::string bytes, code;
  };
  std::string free_bsd = whole;
  free_bsd[7] = 9;
  for (const Case& one :
       {Case{"", "EH-F02"}, Case{whole.substr(0, 40), "EH-F03"}, Case{whole.substr(0, 4096), "EH-F04"},
        Case{"<html><title>Log in</title></html>", "EH-F05"}, Case{"\x1f\x8b\x08 packed", "EH-F06"},
        Case{free_bsd, "EH-L07"}}) {
    write("first/dep.so", one.bytes);
    const Closure closure = close_over(engine);
    EXPECT_FALSE(closure.loads()) << one.code;
    EXPECT_EQ(codes(closure), one.code);
    EXPECT_TRUE(closure.missing.empty()) << one.code;
    EXPECT_EQ(only(closure).value(Key::needed_by), engine.native());
  }
}

TEST_F(ClosureOf, L08L09L15AVersionIsLookedUpInTheFileThatIsFound) {
  auto versioned = [&](const std::string& name, const std::string& soname, const std::string& version) {
    const std::string map = write("v.map", version + " { global: f; };\n").native();
    return library(name, "int f(void) { return 0; }\n",
                   {"-nostdlib", "-Wl,-soname," + soname, "-Wl,--version-script=" + map});
  };
  struct Case {
    const char *soname, *wanted, *has, *code, *needs;
  };
  for (const Case& one :
       {Case{"libc.so.6", "GLIBC_2.99", "GLIBC_2.36", "EH-L08", "GLIBC_2.99"},
        Case{"libstdc++.so.6", "GLIBCXX_3.4.99", "GLIBCXX_3.4.30", "EH-L09", "GLIBCXX_3.4.99"},
        Case{"libc.so.6", "GLIBC_ABI_DT_RELR", "GLIBC_2.35", "EH-L10", "GLIBC_ABI_DT_RELR"},
        Case{"libown.so.1", "OWN_2", "OWN_1", "EH-L15", "OWN_2"}}) {
    const auto linked = versioned("new/dep.so", one.soname, one.wanted);
    const auto engine = library("engine.so", "int f(void); int g(void) { return f(); }\n",
                                {"-nostdlib", linked.native(), "-Wl,-rpath,$ORIGIN/old"});
    versioned(std::string("old/") + one.soname, one.soname, one.has);
    const Closure closure = close_over(engine);
    EXPECT_FALSE(closure.loads());
    const Diagnosis diagnosis = only(closure);
    EXPECT_EQ(diagnosis.code, one.code);
    EXPECT_EQ(diagnosis.value(Key::needs), one.needs);
    EXPECT_EQ(diagnosis.value(Key::path), in(std::string("old/") + one.soname));
    EXPECT_EQ(diagnosis.value(Key::required_by), engine.native());
    if (std::string(one.wanted) != "GLIBC_ABI_DT_RELR") {
      EXPECT_EQ(diagnosis.value(Key::have), one.has);
    }
  }
}

TEST_F(ClosureOf, TheHighestVersionsOfTheEnginesOwnFilesAreReported) {
  const auto engine = library("engine.so", "#include <stdlib.h>\nint f(void) { return atoi(\"1\"); }\n");
  const Closure closure = close_over(engine);
  EXPECT_TRUE(closure.loads());
  ASSERT_EQ(closure.highest.size(), 1u);
  EXPECT_EQ(closure.highest[0].family, "GLIBC");
  EXPECT_EQ(closure.highest[0].library, "libc.so.6");
}

TEST_F(ClosureOf, L27ALibraryForANewerProcessorIsRefused) {
  if (machine_.architecture != "x86_64") GTEST_SKIP() << "only x86-64 has levels of processors";
  const auto engine = part("engine.so", {}, {"-Wl,-z,x86-64-v4"});
  machine_.isa = 1 | 2 | 4;
  const Diagnosis diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-L27");
  EXPECT_EQ(diagnosis.value(Key::needs), "x86-64-v4");
  EXPECT_EQ(diagnosis.value(Key::have), "x86-64-v3");
  machine_.isa |= 8;
  EXPECT_TRUE(close_over(engine).loads());
}

TEST_F(ClosureOf, L28AMuslLibraryIsDistinguishedFromABrokenMachine) {
  if (machine_.architecture != "x86_64" || !has_tool("musl-gcc"))
    GTEST_SKIP() << "no musl-gcc for this architecture";
  const auto engine =
      library("engine.so", "#include <stdlib.h>\nint f(void) { return atoi(\"1\"); }\n", {}, {"musl-gcc"});
  const Closure closure = close_over(engine);
  EXPECT_FALSE(closure.loads());
  EXPECT_EQ(codes(closure),
            std::filesystem::exists("/usr/lib/x86_64-linux-gnu/libc.so") ? "EH-L28" : "EH-L01");
  part("libc.musl-x86_64.so.1");
  const auto alpine = part("alpine.so", {"libc.musl-x86_64.so.1"});
  std::filesystem::remove(folder() / "libc.musl-x86_64.so.1");
  EXPECT_EQ(codes(close_over(alpine)), "EH-L28");
}

TEST_F(ClosureOf, L30AProgramWithRaisedRightsIgnoresTheEnvironment) {
  part("env/dep.so");
  const auto engine = part("engine.so", {"env/dep.so"});
  machine_.library_path = {in("env")};
  EXPECT_TRUE(close_over(engine).loads());
  machine_.secure = true;
  EXPECT_EQ(codes(close_over(engine)), "EH-L01");
}

TEST_F(ClosureOf, L32AnEmptyElementMeansTheCurrentFolderAndIsWarnedOf) {
  part("here/dep.so");
  const auto engine = part("engine.so", {"here/dep.so"}, {"-Wl,-rpath,$ORIGIN:"});
  machine_.current_directory = folder() / "here";
  Closure closure = close_over(engine);
  EXPECT_TRUE(closure.loads());
  EXPECT_EQ(closure.find("dep.so")->path, in("here/dep.so"));
  ASSERT_EQ(closure.warnings.size(), 1u);
  EXPECT_EQ(closure.warnings[0].code, "EH-L32");
  machine_.current_directory = "/";
  EXPECT_EQ(codes(close_over(engine)), "EH-L01");
}

TEST_F(ClosureOf, L32APathThatBeginsAtTheCurrentFolderIsWarnedOf) {
  part("here/dep.so");
  const auto engine = part("engine.so", {"here/dep.so"}, {"-Wl,-rpath,here"});
  machine_.current_directory = folder();
  Closure closure = close_over(engine);
  ASSERT_EQ(closure.warnings.size(), 1u);
  EXPECT_EQ(closure.warnings[0].value(Key::element), "here");
  // The same for a need, which is not searched for.
  run({"patchelf", "--remove-rpath", engine.native()});
  run({"patchelf", "--replace-needed", "dep.so", "here/dep.so", engine.native()});
  closure = close_over(engine);
  EXPECT_TRUE(closure.loads());
  EXPECT_EQ(closure.find("here/dep.so")->path, in("here/dep.so"));
  ASSERT_EQ(closure.warnings.size(), 1u);
  EXPECT_EQ(closure.warnings[0].code, "EH-L32");
  EXPECT_EQ(closure.warnings[0].value(Key::library), "here/dep.so");
}

TEST_F(ClosureOf, L03ANeedWithASlashIsReportedAsWrittenWithTheOnlyPath) {
  part("here/dep.so");
  const auto engine = part("engine.so", {"here/dep.so"}, {"-Wl,-rpath,$ORIGIN"});
  run({"patchelf", "--replace-needed", "dep.so", "here/dep.so", engine.native()});
  machine_.current_directory = "/";
  const Diagnosis there = only(close_over(engine));
  EXPECT_EQ(there.code, "EH-L03");
  EXPECT_EQ(there.value(Key::library), "here/dep.so");
  EXPECT_EQ(there.value(Key::tried), "/here/dep.so");
  EXPECT_EQ(there.value(Key::current_folder), "/");
  EXPECT_EQ(there.value(Key::present_at), in("here/dep.so"));
  std::filesystem::remove(folder() / "here/dep.so");
  EXPECT_EQ(only(close_over(engine)).code, "EH-L01");
  run({"patchelf", "--replace-needed", "here/dep.so", "/gone/dep.so", engine.native()});
  const Diagnosis gone = only(close_over(engine));
  EXPECT_EQ(gone.code, "EH-L01");
  EXPECT_EQ(gone.value(Key::library), "/gone/dep.so");
  EXPECT_EQ(gone.value(Key::tried), "/gone/dep.so");
  EXPECT_EQ(gone.value(Key::current_folder), "");
}

// The name that patchelf --replace-needed has to get.
TEST_F(ClosureOf, L01ANeedWithATokenIsReportedAsWritten) {
  part("dep.so");
  const auto engine = part("engine.so", {"dep.so"}, {"-Wl,-rpath,$ORIGIN"});
  run({"patchelf", "--replace-needed", "dep.so", "$ORIGIN/libs/dep.so", engine.native()});
  const Diagnosis gone = only(close_over(engine));
  EXPECT_EQ(gone.code, "EH-L01");
  EXPECT_EQ(gone.value(Key::library), "$ORIGIN/libs/dep.so");
  EXPECT_EQ(gone.value(Key::tried), in("libs/dep.so"));
  EXPECT_EQ(gone.value(Key::current_folder), "");
  // A file there that is skipped is reported instead.
  std::string other = bytes_of(folder() / "dep.so");
  other[18] = static_cast<char>(machine_.architecture == "x86_64" ? 183 : 62);
  write("libs/dep.so", other);
  const Diagnosis foreign = only(close_over(engine));
  EXPECT_EQ(foreign.code, "EH-L05");
  EXPECT_EQ(foreign.value(Key::file), in("libs/dep.so"));
  part("libs/dep.so");
  EXPECT_TRUE(close_over(engine).loads());
}

#ifdef __linux__
// glibc ends the search there ("cannot read file data"), and so does musl; neither takes the file of the next
// folder.
TEST_F(ClosureOf, ALibraryThatCannotBeReadIsNotMissingAndEndsTheSearch) {
  const std::vector<std::string> flags{"-nostdlib", "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"};
  // The part that a loader reads is after these bytes.
  const std::string large = "const char bytes[300000] = {1};\nint f;\n";
  part("b/dep.so");
  const auto dependency = library("a/dep.so", large, flags);
  const auto engine = part("engine.so", {"b/dep.so"}, {"-Wl,-rpath," + in("a") + ":" + in("b")});
  const auto reported = [&](const std::filesystem::path& file) {
    return test::where_reads_fail_from(65536, [&] {
      const Closure closure = close_over(file);
      std::string all = closure.find("dep.so") == nullptr && closure.missing.empty() ? "" : "went on ";
      for (const Rejected& one : closure.rejected) all += one.why + " " + (one.fatal ? "fatal " : "");
      for (const Diagnosis& one : diagnose_closure(machine_, closure))
        all += std::string(one.code_text()) + " " + std::string(one.value(Key::file)) + " " +
               std::string(one.value(Key::errno_)) + " " + std::string(one.value(Key::needed_by)) + "\n";
      return all;
    });
  };
  const auto of_engine = reported(engine);
  if (!of_engine) GTEST_SKIP() << "no system call can be made to fail here";
  EXPECT_EQ(*of_engine, "EIO fatal EH-F01 " + dependency.native() + " EIO " + engine.native() + "\n");
  EXPECT_EQ(reported(dependency), "EIO fatal EH-F01 " + dependency.native() + " EIO \n");
  std::filesystem::remove(dependency);
  EXPECT_EQ(reported(dependency), "missing fatal EH-F01 " + dependency.native() + "  \n");
}
#endif

TEST_F(ClosureOf, ALoadedLibraryServesItsNameWhateverIsOnDisk) {
  part("disk/dep.so");
  part("process/dep.so");
  const auto engine = part("engine.so", {"disk/dep.so"}, {"-Wl,-rpath,$ORIGIN/disk"});
  EXPECT_EQ(close_over(engine).find("dep.so")->path, in("disk/dep.so"));
  machine_.loaded = {{"dep.so", in("process/dep.so")}};
  const Closure closure = close_over(engine);
  EXPECT_EQ(closure.find("dep.so")->path, in("process/dep.so"));
  EXPECT_EQ(closure.find("dep.so")->found_by, "already loaded");
}

TEST_F(ClosureOf, ThisProcessListsItsOwnLibrariesWithTheirSONAMEs) {
  bool libc = false;
  for (const LoadedLibrary& library : loaded_libraries()) libc = libc || library.soname == "libc.so.6";
  EXPECT_TRUE(libc);
}

TEST_F(ClosureOf, ALibraryOpenedByARelativePathIsNamedByItsMappedFile) {
  // The kernel writes a line end as \012, and marks a removed file.
  const auto home = folder() / "a\nhome";
  part("a\nhome/librelative.so");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(home);
  void* const opened = ::dlopen("./librelative.so", RTLD_NOW);
  std::filesystem::current_path(before);
  ASSERT_NE(opened, nullptr);
  const auto reported = [] {
    for (const LoadedLibrary& library : loaded_libraries())
      if (library.soname == "librelative.so") return library.path;
    return std::filesystem::path();
  };
  EXPECT_EQ(reported(), home / "librelative.so");
  std::filesystem::remove(home / "librelative.so");
  EXPECT_EQ(reported(), home / "librelative.so");
  ::dlclose(opened);
}

TEST_F(ClosureOf, OneFileUnderTwoNamesIsOneLibrary) {
  part("dep.so");
  std::filesystem::create_symlink("dep.so", folder() / "alias.so");
  part("middle.so", {"dep.so"}, {"-Wl,-rpath,$ORIGIN"});
  const auto engine = part("engine.so", {"dep.so", "middle.so"}, {"-Wl,-rpath,$ORIGIN"});
  run({"patchelf", "--replace-needed", "dep.so", "alias.so", in("middle.so")});
  const Closure closure = close_over(engine);
  EXPECT_EQ(closure.objects.size(), 3u);
  EXPECT_TRUE(closure.loads());
}

TEST_F(ClosureOf, ADanglingLinkInTheSearchedFoldersIsNamed) {
  part("dep.so");
  const auto engine = part("engine.so", {"dep.so"}, {"-Wl,-rpath,$ORIGIN/links"});
  std::filesystem::remove(folder() / "dep.so");
  std::filesystem::create_directories(folder() / "links");
  std::filesystem::create_symlink("dep.so.1.2.3", folder() / "links/dep.so");
  const Diagnosis diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-F11");
  EXPECT_EQ(diagnosis.value(Key::link), in("links/dep.so"));
  EXPECT_EQ(diagnosis.value(Key::target), "dep.so.1.2.3");
}

TEST_F(ClosureOf, ADescribedMachineIsJudgedByItsOwnTree) {
  part("root/opt/libs/dep.so");
  const auto made = part("root/opt/engine/engine.so", {"root/opt/libs/dep.so"}, {"-Wl,-rpath,/links/libs"});
  std::filesystem::create_directories(folder() / "root/links");
  std::filesystem::create_directory_symlink("/opt/libs", folder() / "root/links/libs");
  machine_.root = folder() / "root";
  const Closure closure = close_over("/opt/engine/engine.so");
  EXPECT_TRUE(closure.loads()) << codes(closure);
  ASSERT_NE(closure.find("dep.so"), nullptr);
  EXPECT_EQ(closure.find("dep.so")->path, "/links/libs/dep.so");
}

TEST_F(ClosureOf, BelowARootDotsAreResolvedBehindLinks) {
  part("root/real/lib/dep.so");
  part("root/opt/lib/dep.so");
  part("link/dep.so");
  std::filesystem::create_directories(folder() / "root/real/deep");
  std::filesystem::create_directory_symlink("/real/deep", folder() / "root/opt/a");
  std::filesystem::create_directory_symlink("../real/deep", folder() / "root/opt/b");
  Reader reader(folder() / "root");
  for (const char* way : {"/opt/a/../lib/dep.so", "/opt/b/../lib/dep.so", "/opt/./b//../lib/dep.so",
                          "/../opt/a/../../real/lib/dep.so"})
    EXPECT_EQ(reader.on_disk(way), folder() / "root/real/lib/dep.so") << way;
  EXPECT_EQ(reader.on_disk("/opt/lib/../lib/dep.so"), folder() / "root/opt/lib/dep.so");
  // As in the kernel, a missing folder has no parent.
  EXPECT_FALSE(reader.file_exists("/opt/none/../lib/dep.so"));
  EXPECT_FALSE(reader.file_exists("/opt/lib/dep.so/../dep.so"));
  part("root/opt/engine.so", {"link/dep.so"}, {"-Wl,-rpath,/opt/a/../lib"});
  machine_.root = folder() / "root";
  std::filesystem::remove(folder() / "root/opt/lib/dep.so");
  EXPECT_TRUE(close_over("/opt/engine.so").loads());
}

TEST_F(ClosureOf, APageSizeLargerThanTheLibrarysAlignmentIsF12) {
  const auto engine = part("engine.so", {}, {"-Wl,-z,max-page-size=4096"});
  EXPECT_TRUE(close_over(engine).loads());
  machine_.page_size = 65536;
  const Diagnosis diagnosis = only(close_over(engine));
  EXPECT_EQ(diagnosis.code, "EH-F12");
  EXPECT_EQ(diagnosis.value(Key::alignment), "4096");
  EXPECT_EQ(diagnosis.value(Key::page_size), "65536");
}

TEST_F(ClosureOf, AMissingOrForeignFileIsReportedBeforeAnySearch) {
  EXPECT_EQ(codes(close_over(folder() / "absent.so")), "EH-F01");
  EXPECT_FALSE(close_over(folder() / "absent.so").loads());
  std::string pe(512, '\0');
  pe.replace(0, 2, "MZ");
  EXPECT_EQ(codes(close_over(write("x.dll", pe))), "EH-F09");
}

}  // namespace
}  // namespace enginehost::linker
