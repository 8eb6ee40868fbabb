// Where macOS searches the needed libraries, with real Mach-O files (X01, X02, X03, X04, X07, X08).
#include "host/linker/dyld.hpp"

#include <gmock/gmock.h>

#include "tests/support/workshop.hpp"
#ifdef __linux__
#include "tests/support/posix/failing_reads.hpp"
#endif

namespace enginehost::linker {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Dyld : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    if (!has_tool("clang-14") || !has_tool("ld64.lld-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
    machine_.root = folder();
    machine_.program = "/App/MacOS/app";
    machine_.os_version = "14.0";
  }

  struct Made {
    std::string architecture = "arm64";
    std::string minimum = "11.0";
    std::string kind = "-dylib";
    std::string install_name;  // "" = @rpath/NAME
    std::vector<std::string> flags;
  };
  // A Mach-O library at `path` of the described machine that calls a function of each of `needs`.
  void make(const std::string& path, const std::vector<std::string>& needs, const Made& made) const {
    const std::string name = std::filesystem::path(path).filename().native();
    const auto symbol = [](const std::string& file) {
      std::string text = "f";
      const std::string library = std::filesystem::path(file).filename().native();
      for (const char c : library) text += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
      return text;
    };
    std::string source, calls = "0";
    for (const std::string& need : needs) {
      source += "int " + symbol(need) + "(void);\n";
      calls += " + " + symbol(need) + "()";
    }
    source += "int " + symbol(path) + "(void) { return " + calls + "; }\n";
    const auto from = write("source.c", source);
    const std::filesystem::path to = machine_.root / path.substr(1);
    std::filesystem::create_directories(to.parent_path());
    const std::string object = (folder() / "object.o").native();
    run({"clang-14", "-target", made.architecture + "-apple-macos11", "-fPIC", "-c", "-o", object,
         from.native()});
    std::vector<std::string> command{"ld64.lld-14",   "-arch",      made.architecture, "-platform_version",
                                     "macos",         made.minimum, made.minimum,      made.kind,
                                     object,          "-o",         to.native(),       "-undefined",
                                     "dynamic_lookup"};
    if (made.kind == "-dylib")
      command.insert(command.end(),
                     {"-install_name", made.install_name.empty() ? "@rpath/" + name : made.install_name});
    for (const std::string& need : needs) command.push_back((machine_.root / need.substr(1)).native());
    command.insert(command.end(), made.flags.begin(), made.flags.end());
    run(command);
  }
  void dylib(const std::string& path, const std::vector<std::string>& needs = {},
             const std::vector<std::string>& flags = {}) const {
    Made made;
    made.flags = flags;
    make(path, needs, made);
  }
  // Makes its first need an upward one, which lld cannot write.
  void make_upward(const std::string& path) const {
    const std::filesystem::path file = machine_.root / path.substr(1);
    std::string bytes = bytes_of(file);
    constexpr std::string_view required("\x0c\0\0\0", 4), upward("\x23\0\0\x80", 4);
    std::size_t at = 32;  // after the header: the load commands, each with its size in the second word
    while (at + 8 < bytes.size() && bytes.substr(at, 4) != required)
      at += static_cast<unsigned char>(bytes[at + 4]) + 256u * static_cast<unsigned char>(bytes[at + 5]);
    ASSERT_LT(at + 8, bytes.size()) << path;
    bytes.replace(at, 4, upward);
    std::ofstream(file, std::ios::binary) << bytes;
  }
  void remove(const std::string& path) const { std::filesystem::remove(machine_.root / path.substr(1)); }
  void move(const std::string& from, const std::string& to) const {
    const auto target = machine_.root / to.substr(1);
    std::filesystem::create_directories(target.parent_path());
    std::filesystem::rename(machine_.root / from.substr(1), target);
  }
  Closure close_over(const std::string& file, std::vector<std::string> preloaded = {}) {
    reader_ = Reader({}, machine_.architecture);
    return close_macos(machine_, {file, std::move(preloaded)}, reader_);
  }
  Diagnosis only(const Closure& closure) const {
    std::vector<Diagnosis> all = diagnose_macos(closure);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Diagnosis{} : all.front();
  }

  AppleMachine machine_;
  Reader reader_;
};

TEST_F(Dyld, X01AMissingLibraryIsNamedWithItsNeederAndEveryPathTried) {
  dylib("/engine/libgone.dylib");
  dylib("/engine/libmid.dylib", {"/engine/libgone.dylib"}, {"-rpath", "@loader_path/deps"});
  dylib("/engine/libengine.dylib", {"/engine/libmid.dylib"},
        {"-rpath", "@loader_path", "-rpath", "@executable_path/../lib"});
  remove("/engine/libgone.dylib");
  const Closure closure = close_over("/engine/libengine.dylib");
  EXPECT_FALSE(closure.loads());
  const Diagnosis diagnosis = only(closure);
  EXPECT_EQ(diagnosis.code, "EH-X01");
  EXPECT_EQ(diagnosis.value(Key::library), "@rpath/libgone.dylib");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "/engine/libmid.dylib");
  EXPECT_THAT(diagnosis.values(Key::chain), ElementsAre("/engine/libengine.dylib", "/engine/libmid.dylib"));
  EXPECT_THAT(diagnosis.values(Key::searched),
              ElementsAre("/engine/deps/libgone.dylib", "/engine/libgone.dylib", "/App/lib/libgone.dylib",
                          "/usr/local/lib/libgone.dylib", "/usr/lib/libgone.dylib"));
  EXPECT_TRUE(diagnosis.value(Key::no_rpath).empty());
}

TEST_F(Dyld, X01WithoutAnyLCRPATHTheReasonNamesTheLibrarysFolder) {
  dylib("/engine/libdep.dylib");
  dylib("/engine/libengine.dylib", {"/engine/libdep.dylib"});
  const Diagnosis diagnosis = only(close_over("/engine/libengine.dylib"));
  EXPECT_EQ(diagnosis.value(Key::no_rpath), "@rpath/libdep.dylib");
  EXPECT_EQ(diagnosis.value(Key::present_at), "/engine/libdep.dylib");
  // Opened first by its path, as our loader does, it is found by its install name.
  EXPECT_TRUE(close_over("/engine/libengine.dylib", {"/engine/libdep.dylib"}).loads());
}

TEST_F(Dyld, TheLCRPATHOfTheWholeChainAndOfTheProgramCountInOrder) {
  dylib("/a/libbottom.dylib");
  dylib("/a/libmiddle.dylib", {"/a/libbottom.dylib"}, {"-rpath", "/first"});
  dylib("/a/libengine.dylib", {"/a/libmiddle.dylib"},
        {"-rpath", "@loader_path", "-rpath", "@loader_path/deps"});
  dylib("/App/MacOS/app", {}, {"-rpath", "@executable_path/libs"});
  move("/a/libbottom.dylib", "/a/deps/libbottom.dylib");
  Closure closure = close_over("/a/libengine.dylib");
  EXPECT_TRUE(closure.loads());
  ASSERT_NE(closure.find("@rpath/libbottom.dylib"), nullptr);
  EXPECT_EQ(closure.find("@rpath/libbottom.dylib")->path, "/a/deps/libbottom.dylib");
  EXPECT_EQ(closure.find("@rpath/libbottom.dylib")->found_by, "LC_RPATH of /a/libengine.dylib");
  move("/a/deps/libbottom.dylib", "/App/MacOS/libs/libbottom.dylib");
  EXPECT_EQ(close_over("/a/libengine.dylib").find("@rpath/libbottom.dylib")->found_by,
            "LC_RPATH of /App/MacOS/app");
  // The needer's own LC_RPATH comes first.
  move("/App/MacOS/libs/libbottom.dylib", "/first/libbottom.dylib");
  EXPECT_EQ(close_over("/a/libengine.dylib").find("@rpath/libbottom.dylib")->path, "/first/libbottom.dylib");
}

TEST_F(Dyld, WeakLibrariesMayBeMissingReExportedAndUpwardOnesMayNot) {
  dylib("/a/libdep.dylib");
  const std::string dep = (machine_.root / "a/libdep.dylib").native();
  dylib("/a/libweak.dylib", {}, {"-weak_library", dep});
  dylib("/a/libreexports.dylib", {}, {"-reexport_library", dep});
  dylib("/a/libupward.dylib", {"/a/libdep.dylib"});
  make_upward("/a/libupward.dylib");
  remove("/a/libdep.dylib");
  EXPECT_TRUE(close_over("/a/libweak.dylib").loads());
  EXPECT_EQ(only(close_over("/a/libreexports.dylib")).code, "EH-X01");
  EXPECT_EQ(only(close_over("/a/libupward.dylib")).code, "EH-X01");
}

// Loader.cpp: whatever the problem of a weak library, its needer continues without it.
TEST_F(Dyld, AWeakLibraryThatIsUnfitIsNoFaultAndANeededOneIs) {
  Made intel;
  intel.architecture = "x86_64";
  dylib("/a/libdep.dylib");
  const std::string dep = (machine_.root / "a/libdep.dylib").native();
  dylib("/a/libweak.dylib", {}, {"-weak_library", dep, "-rpath", "@loader_path"});
  dylib("/a/libneeds.dylib", {"/a/libdep.dylib"}, {"-rpath", "@loader_path"});
  make("/a/libdep.dylib", {}, intel);
  const Closure weak = close_over("/a/libweak.dylib");
  EXPECT_TRUE(weak.loads());
  EXPECT_THAT(diagnose_macos(weak), IsEmpty());
  EXPECT_EQ(only(close_over("/a/libneeds.dylib")).code, "EH-X02");
}

// The needs of a re-exported library, and two libraries that need each other upwards, as Apple's own do.
TEST_F(Dyld, TheNeedsOfReExportedAndUpwardLibrariesBelongToTheClosure) {
  dylib("/a/libbottom.dylib");
  dylib("/a/libinner.dylib", {"/a/libbottom.dylib"}, {"-rpath", "@loader_path"});
  dylib("/a/libouter.dylib", {},
        {"-reexport_library", (machine_.root / "a/libinner.dylib").native(), "-rpath", "@loader_path"});
  EXPECT_EQ(close_over("/a/libouter.dylib").find("@rpath/libbottom.dylib")->needed_by, "/a/libinner.dylib");
  dylib("/b/libtwo.dylib");
  dylib("/b/libone.dylib", {"/b/libtwo.dylib"}, {"-rpath", "@loader_path"});
  dylib("/b/libtwo.dylib", {"/b/libone.dylib"}, {"-rpath", "@loader_path"});
  make_upward("/b/libtwo.dylib");
  const Closure circle = close_over("/b/libone.dylib");
  EXPECT_TRUE(circle.loads());
  EXPECT_EQ(circle.objects.size(), 2u);
}

TEST_F(Dyld, LoaderPathIsTheNeedersFolderAndExecutablePathThePrograms) {
  Made made;
  made.install_name = "@loader_path/../deps/libbeside.dylib";
  make("/a/deps/libbeside.dylib", {}, made);
  made.install_name = "@executable_path/../Frameworks/libtool.dylib";
  make("/App/Frameworks/libtool.dylib", {}, made);
  dylib("/a/inner/libmid.dylib", {"/a/deps/libbeside.dylib"});
  dylib("/a/libengine.dylib", {"/a/inner/libmid.dylib", "/App/Frameworks/libtool.dylib"},
        {"-rpath", "@loader_path/inner"});
  Closure closure = close_over("/a/libengine.dylib");
  EXPECT_TRUE(closure.loads());
  EXPECT_EQ(closure.find("@loader_path/../deps/libbeside.dylib")->path, "/a/deps/libbeside.dylib");
  EXPECT_EQ(closure.find("@executable_path/../Frameworks/libtool.dylib")->path,
            "/App/Frameworks/libtool.dylib");
  // In another program that name means another file.
  machine_.program = "/opt/bin/python3";
  const Diagnosis diagnosis = only(close_over("/a/libengine.dylib"));
  EXPECT_EQ(diagnosis.code, "EH-X01");
  EXPECT_EQ(diagnosis.value(Key::library), "@executable_path/../Frameworks/libtool.dylib");
  EXPECT_THAT(diagnosis.values(Key::searched), Contains("/opt/Frameworks/libtool.dylib"));
}

TEST_F(Dyld, LibrariesOfTheSharedCacheAreNeverLookedForOnDisk) {
  Made system;
  system.install_name = "/usr/lib/libSystem.B.dylib";
  make("/made/libSystem.dylib", {}, system);
  system.install_name = "/System/Library/Frameworks/Metal.framework/Versions/A/Metal";
  make("/made/Metal", {}, system);
  dylib("/a/libengine.dylib", {"/made/libSystem.dylib", "/made/Metal"});
  Closure closure = close_over("/a/libengine.dylib");
  EXPECT_TRUE(closure.loads());
  EXPECT_EQ(closure.find("/usr/lib/libSystem.B.dylib")->found_by, "shared cache");
  machine_.shared_cache = {"/usr/lib/libSystem.B.dylib"};
  EXPECT_EQ(only(close_over("/a/libengine.dylib")).value(Key::library),
            "/System/Library/Frameworks/Metal.framework/Versions/A/Metal");
}

TEST_F(Dyld, DYLDLIBRARYPATHComesFirstAndIsIgnoredByAHardenedProgram) {
  dylib("/a/libdep.dylib");
  dylib("/a/libengine.dylib", {"/a/libdep.dylib"}, {"-rpath", "@loader_path"});
  std::filesystem::create_directories(machine_.root / "env");
  std::filesystem::copy_file(machine_.root / "a/libdep.dylib", machine_.root / "env/libdep.dylib");
  machine_.library_path = {{"/env"}};
  EXPECT_EQ(close_over("/a/libengine.dylib").find("@rpath/libdep.dylib")->found_by, "DYLD_LIBRARY_PATH");
  machine_.hardened = true;
  EXPECT_EQ(close_over("/a/libengine.dylib").find("@rpath/libdep.dylib")->path, "/a/libdep.dylib");
  machine_.hardened = false;
  machine_.library_path.reset();
  machine_.fallback_library_path = {{"/env"}};
  remove("/a/libdep.dylib");
  EXPECT_EQ(close_over("/a/libengine.dylib").find("@rpath/libdep.dylib")->found_by,
            "DYLD_FALLBACK_LIBRARY_PATH");
}

TEST_F(Dyld, AFrameworkIsLookedUpByItsPartInDYLDFRAMEWORKPATH) {
  Made framework;
  framework.install_name = "@rpath/Tensor.framework/Versions/A/Tensor";
  make("/made/Tensor", {}, framework);
  dylib("/a/libengine.dylib", {"/made/Tensor"});
  move("/made/Tensor", "/frameworks/Tensor.framework/Versions/A/Tensor");
  EXPECT_FALSE(close_over("/a/libengine.dylib").loads());
  machine_.framework_path = {{"/frameworks"}};
  EXPECT_TRUE(close_over("/a/libengine.dylib").loads());
}

TEST_F(Dyld, X02ALibraryForAnotherProcessorIsNamedAndSkipped) {
  Made intel;
  intel.architecture = "x86_64";
  dylib("/a/libdep.dylib");
  dylib("/a/libengine.dylib", {"/a/libdep.dylib"},
        {"-rpath", "@loader_path/first", "-rpath", "@loader_path/second"});
  make("/a/first/libdep.dylib", {}, intel);
  Diagnosis diagnosis = only(close_over("/a/libengine.dylib"));
  EXPECT_EQ(diagnosis.code, "EH-X02");
  EXPECT_EQ(diagnosis.value(Key::file), "/a/first/libdep.dylib");
  EXPECT_EQ(diagnosis.value(Key::built_for), "x86_64");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "/a/libengine.dylib");
  move("/a/libdep.dylib", "/a/second/libdep.dylib");
  EXPECT_TRUE(close_over("/a/libengine.dylib").loads());
  // A process under Rosetta is an x86_64 process, whatever the machine is.
  machine_.architecture = "x86_64";
  machine_.rosetta = true;
  diagnosis = only(close_over("/a/libengine.dylib"));
  EXPECT_EQ(diagnosis.code, "EH-X02");
  EXPECT_EQ(diagnosis.value(Key::rosetta), "yes");
  EXPECT_TRUE(close_over("/a/first/libdep.dylib").loads());
}

TEST_F(Dyld, TheSliceOfTheProcessIsWhatCountsInAUniversalFile) {
  if (!has_tool("llvm-lipo-14")) GTEST_SKIP() << "llvm-lipo-14 is not installed";
  Made intel;
  intel.architecture = "x86_64";
  dylib("/made/libarm.dylib");
  make("/made/libintel.dylib", {}, intel);
  std::filesystem::create_directories(machine_.root / "a");
  run({"llvm-lipo-14", "-create", (machine_.root / "made/libarm.dylib").native(),
       (machine_.root / "made/libintel.dylib").native(), "-output",
       (machine_.root / "a/libfat.dylib").native()});
  for (const char* process : {"aarch64", "x86_64"}) {
    machine_.architecture = process;
    EXPECT_TRUE(close_over("/a/libfat.dylib").loads()) << process;
  }
  machine_.architecture = "arm64e";
  EXPECT_EQ(only(close_over("/a/libfat.dylib")).code, "EH-X02");
}

TEST_F(Dyld, X07ALibraryForANewerMacOSIsWarnedOf) {
  Made newer;
  newer.minimum = "15.0";
  make("/a/libengine.dylib", {}, newer);
  const Closure closure = close_over("/a/libengine.dylib");
  EXPECT_TRUE(closure.loads());
  ASSERT_EQ(closure.warnings.size(), 1u);
  EXPECT_EQ(closure.warnings[0].code, "EH-X07");
  EXPECT_EQ(closure.warnings[0].value(Key::required), "15.0");
  machine_.os_version = "15.1";
  EXPECT_THAT(close_over("/a/libengine.dylib").warnings, IsEmpty());
}

TEST_F(Dyld, X08ABundleCanBeOpenedButNothingCanBeLinkedWithIt) {
  Made bundle;
  bundle.kind = "-bundle";
  dylib("/a/libdep.dylib");
  bundle.flags = {"-rpath", "@loader_path"};
  make("/a/libggml-metal.so", {"/a/libdep.dylib"}, bundle);
  EXPECT_TRUE(close_over("/a/libggml-metal.so").loads());
  dylib("/a/libengine.dylib", {"/a/libdep.dylib"}, {"-rpath", "@loader_path"});
  std::filesystem::rename(machine_.root / "a/libggml-metal.so", machine_.root / "a/libdep.dylib");
  const Diagnosis diagnosis = only(close_over("/a/libengine.dylib"));
  EXPECT_EQ(diagnosis.code, "EH-X08");
  EXPECT_EQ(diagnosis.value(Key::file), "/a/libdep.dylib");
}

TEST_F(Dyld, X03X04AnotherFormatAndAMissingSignatureAreReported) {
  std::filesystem::create_directories(machine_.root / "a");
  std::filesystem::copy_file("/proc/self/exe", machine_.root / "a/libelf.dylib");
  EXPECT_EQ(only(close_over("/a/libelf.dylib")).code, "EH-X03");
  write("a/libpage.dylib", "<html><title>Log in</title></html>");
  EXPECT_EQ(only(close_over("/a/libpage.dylib")).code, "EH-F05");
  dylib("/a/libbare.dylib", {}, {"-no_adhoc_codesign"});
  EXPECT_EQ(only(close_over("/a/libbare.dylib")).code, "EH-X04");
  Made intel;
  intel.architecture = "x86_64";
  intel.flags = {"-no_adhoc_codesign"};
  machine_.architecture = "x86_64";
  make("/a/libintel.dylib", {}, intel);
  EXPECT_TRUE(close_over("/a/libintel.dylib").loads());
}

#ifdef __linux__
// dyld continues, whatever the problem; the report still says that the file exists.
TEST_F(Dyld, ALibraryThatCannotBeReadIsNotCalledMissing) {
  dylib("/engine/libdep.dylib");
  dylib("/engine/libengine.dylib", {"/engine/libdep.dylib"}, {"-rpath", "@loader_path"});
  const auto file = machine_.root / "engine/libdep.dylib";
  // As the only slice of a universal file, which begins after the readable part.
  std::string universal("\xca\xfe\xba\xbe\0\0\0\x01\x01\0\0\x0c\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\x0e", 28);
  const std::string slice = bytes_of(file);
  universal[22] = static_cast<char>(slice.size() >> 8);
  universal[23] = static_cast<char>(slice.size());
  universal.resize(65536);
  std::ofstream(file, std::ios::binary) << universal + slice;
  EXPECT_TRUE(close_over("/engine/libengine.dylib").loads());
  const auto reported = test::where_reads_fail_from(65536, [&] {
    std::string all;
    for (const Diagnosis& one : diagnose_macos(close_over("/engine/libengine.dylib")))
      all += std::string(one.code_text()) + " " + std::string(one.value(Key::file)) + " " +
             std::string(one.value(Key::errno_)) + "\n";
    return all;
  });
  if (!reported) GTEST_SKIP() << "no system call can be made to fail here";
  EXPECT_EQ(*reported, "EH-F01 " + file.native() + " EIO\n");
}
#endif

}  // namespace
}  // namespace enginehost::linker
