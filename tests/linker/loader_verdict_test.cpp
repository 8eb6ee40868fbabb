// Unusual libraries, one rule of the loader each: our verdict before loading is compared with dlopen. Each is
// also checked by the rules of other releases of glibc, on a described machine.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include "base/version.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/symbols.hpp"
#include "tests/faults/real_dlopen.hpp"
#include "tests/linker/made_cache.hpp"
#include "tests/support/this_architecture.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t PT_LOAD = 1;

std::uint64_t number_at(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

void set_number(std::string& bytes, std::size_t at, std::uint64_t number) {
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(number >> (8 * i) & 0xff);
}

class LoaderVerdict : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    machine_ = describe_this_machine();
    machine_.library_path.clear();
    if (machine_.architecture != test::architecture || machine_.libc != Libc::glibc ||
        compare_versions(machine_.libc_version, "2.36") < 0)
      GTEST_SKIP() << "the judge is glibc 2.36 or newer on x86-64 or arm64";
  }
  // The closure has only the listed needs.
  std::filesystem::path part(const std::string& name, const std::string& source = "int f;\n",
                             std::vector<std::string> flags = {}) const {
    flags.insert(flags.begin(), {"-nostdlib", "-Wl,-soname," + name, "-Wl,-rpath," + folder().native()});
    return library(name, source, flags);
  }
  // A copy of `library` in which each program header of that type is changed.
  template <class Change>
  std::filesystem::path changed(const std::filesystem::path& library, const Change& change,
                                std::uint32_t type = PT_LOAD) const {
    std::string bytes = bytes_of(library);
    const std::size_t headers = number_at(bytes, 56, 2);
    for (std::size_t i = 0; i < headers; ++i)
      if (const std::size_t at = 64 + 56 * i; number_at(bytes, at, 4) == type) change(bytes, at);
    return write("changed.so", bytes);
  }
  std::filesystem::path with_alignment(std::uint64_t alignment) const {
    return changed(part("aligned.so", "int f(void) { return 1; }\n"),
                   [&](std::string& bytes, std::size_t at) { set_number(bytes, at + 48, alignment); });
  }

  Closure closed(const std::filesystem::path& file, const std::string& tunables = {}) {
    Request request;
    request.file = file;
    request.tunables = tunables;
    reader_ = Reader();
    return close(machine_, request, reader_);
  }
  std::string codes(const std::filesystem::path& file) {
    std::string all;
    for (const Diagnosis& one : diagnose_closure(machine_, closed(file)))
      all += (all.empty() ? "" : " ") + std::string(one.code_text());
    return all;
  }
  static faults::DlopenAnswer opened(const std::filesystem::path& file,
                                     const std::string& tunables = "GLIBC_TUNABLES") {
    // A child built with AddressSanitizer objects to libraries that are loaded before its runtime.
    return faults::ask_dlopen(ENGINEHOST_OPEN_CHILD, {file}, std::chrono::seconds(20),
                              {"LD_LIBRARY_PATH", tunables, "ASAN_OPTIONS=verify_asan_link_order=0"});
  }
  // Expects the same verdict of both, and returns ours.
  std::string both(const std::filesystem::path& file) {
    const faults::DlopenAnswer answer = opened(file);
    const std::string said = codes(file);
    EXPECT_EQ(said.empty(), answer.opened()) << said << "; the loader: " << answer.text();
    return said;
  }

  Machine machine_;
  Reader reader_;
};

TEST_F(LoaderVerdict, NewerGlibcIgnoresTheAlignmentOfASegment) {
  for (const std::uint64_t alignment : {0u, 1u, 16u, 4096u, 1u << 21})
    EXPECT_EQ(both(with_alignment(alignment)), "") << alignment;
}

// The note has the system (0 = Linux) and its oldest version.
std::string source_for(const std::string& system_and_version) {
  return "int f;\n__asm__(\".pushsection .note.ABI-tag,\\\"a\\\",%note\\n.balign 4\\n.long 4,16,1\\n"
         ".asciz \\\"GNU\\\"\\n.long " +
         system_and_version + "\\n.popsection\");\n";
}

TEST_F(LoaderVerdict, L43AFileForANewerKernelIsSkippedByOlderReleases) {
  const auto needed = part("libneeded.so", source_for("0,9,11,0"));
  const auto file = part("user.so", "int g;\n", {"-Wl,--no-as-needed", needed.native()});
  EXPECT_EQ(both(file), "") << "this machine's own release does not read the note";
  const auto found = [&](const std::string& version, const std::string& kernel) {
    machine_.libc_version = version;
    machine_.kernel = kernel;
    return codes(file);
  };
  EXPECT_EQ(found("2.35", "9.10.1-45-generic"), "EH-L43");
  EXPECT_EQ(found("2.31", "5.15.0"), "EH-L43");
  EXPECT_EQ(found("2.35", "9.11.0-rc1"), "");
  EXPECT_EQ(found("2.35", "10.0-arch1-1"), "");
  EXPECT_EQ(found("2.36", "5.15.0"), "");
  EXPECT_EQ(found("", "5.15.0"), "") << "an unknown release";
  EXPECT_EQ(found("2.35", ""), "") << "an unknown kernel";
  EXPECT_EQ(found("2.35", "5.15.0"), "EH-L43");
  machine_.libc = Libc::musl;
  EXPECT_EQ(found("1.2.4", "5.15.0"), "");
  machine_.libc = Libc::glibc;
  found("2.35", "5.15.0");
  const std::vector<Diagnosis> why = diagnose_closure(machine_, closed(file));
  ASSERT_EQ(why.size(), 1u);
  EXPECT_EQ(why[0].value(Key::library), "libneeded.so");
  EXPECT_EQ(why[0].value(Key::needs), "9.11.0");
  EXPECT_EQ(why[0].value(Key::have), "5.15.0");
  // The next folder of the search may have a file for this kernel.
  std::filesystem::create_directory(folder() / "older");
  const auto older = part("older/libneeded.so", source_for("0,3,2,0"));
  machine_.library_path = {folder().native(), older.parent_path().native()};
  machine_.library_path_text = folder().native() + ":" + older.parent_path().native();
  const auto searching =
      library("searching.so", "int g;\n", {"-nostdlib", "-Wl,--no-as-needed", needed.native()});
  EXPECT_EQ(codes(searching), "");
}

TEST_F(LoaderVerdict, L20AnExecutableStackIsRefusedByNewerReleases) {
  const auto file = part("stack.so", "int f;\n", {"-Wl,-z,execstack"});
  both(file);  // the result of this machine's own release
  const auto found = [&](const std::string& version, const std::string& tunables = {}) {
    machine_.libc_version = version;
    const Closure closure = closed(file, tunables);
    const auto names = [](const std::vector<Diagnosis>& list) {
      return std::any_of(list.begin(), list.end(), [](const Diagnosis& one) { return one.code == "EH-L20"; });
    };
    EXPECT_EQ(closure.loads(), !names(closure.refused)) << version;
    for (const Diagnosis& doubt : closure.doubts)
      EXPECT_EQ(doubt.value(Key::have), "") << "would be reported as the reason of the refusal";
    return std::string(names(closure.refused) ? "refused" : "") + (names(closure.doubts) ? "doubt" : "") +
           (names(closure.warnings) ? "warning" : "");
  };
  EXPECT_EQ(found("2.36"), "warning");
  EXPECT_EQ(found("2.40"), "warning");
  EXPECT_EQ(found(""), "warning");
  EXPECT_EQ(found("2.41"), "refused");
  EXPECT_EQ(found("2.43"), "refused");
  EXPECT_EQ(found("2.43", "glibc.rtld.execstack=1"), "refused");
  EXPECT_EQ(found("2.41", "glibc.rtld.execstack=2"), "doubt");
  EXPECT_EQ(found("2.42", "glibc.rtld.execstack=2"), "warning");
  // The program's own stack flag counts from the start.
  machine_.program = part("program", "int f;\n", {"-Wl,-z,execstack"});
  EXPECT_EQ(found("2.42"), "doubt");
  machine_.program.clear();
  machine_.libc = Libc::musl;
  EXPECT_EQ(found("2.42"), "warning");
}

TEST_F(LoaderVerdict, F12ASegmentWhosePlaceDiffersByLessThanAPageIsRefused) {
  const auto file = changed(part("moved.so"), [](std::string& bytes, std::size_t at) {
    if (number_at(bytes, at + 8, 8) != 0) set_number(bytes, at + 8, number_at(bytes, at + 8, 8) + 16);
  });
  EXPECT_EQ(both(file), "EH-F12");
}

TEST_F(LoaderVerdict, F12OlderGlibcRequiresTheNamedAlignment) {
  machine_.libc_version = "2.34";
  EXPECT_EQ(codes(with_alignment(4096)), "");
  EXPECT_EQ(codes(with_alignment(16)), "EH-F12");
  EXPECT_EQ(codes(with_alignment(1)), "EH-F12");
  // Whole pages, but not of the named size.
  EXPECT_EQ(codes(with_alignment(1u << 21)), "EH-F12");
  machine_.libc_version = "2.35";
  EXPECT_EQ(codes(with_alignment(16)), "");
  EXPECT_EQ(codes(with_alignment(1u << 21)), "");
}

TEST_F(LoaderVerdict, F12WithLargerPagesTheOffsetsDecideNotTheAlignment) {
  const auto built = part("wide.so", "int f = 1;\n", {"-Wl,-z,max-page-size=65536"});
  const auto file =
      changed(built, [](std::string& bytes, std::size_t at) { set_number(bytes, at + 48, 4096); });
  machine_.page_size = 65536;
  EXPECT_EQ(codes(file), "");
  const auto narrow = part("narrow.so", "int f = 1;\n", {"-Wl,-z,max-page-size=4096"});
  EXPECT_EQ(
      codes(changed(narrow, [](std::string& bytes, std::size_t at) { set_number(bytes, at + 48, 65536); })),
      "EH-F12");
  machine_.libc_version = "2.34";
  EXPECT_EQ(codes(file), "EH-F12");
}

TEST_F(LoaderVerdict, ASegmentLargerInTheFileThanInMemoryLoads) {
  bool first = true;
  const auto file = changed(part("larger.so"), [&](std::string& bytes, std::size_t at) {
    if (first) set_number(bytes, at + 40, number_at(bytes, at + 32, 8) - 1);
    first = false;
  });
  EXPECT_EQ(both(file), "");
}

TEST_F(LoaderVerdict, L07TheAbiNumberIsCheckedByKindAndRelease) {
  std::string bytes = bytes_of(part("abi.so"));
  std::string said;
  for (const char abi : {'\0', '\3'})
    for (const char version : {'\0', '\1', '\2', '\3', '\4', '\5'}) {
      bytes[7] = abi;
      bytes[8] = version;
      said += both(write("numbered.so", bytes)).empty() ? '+' : '-';
    }
  if (machine_.architecture == "x86_64") {
    EXPECT_EQ(said, "+-----++++--");
    bytes[8] = 3;
    const auto third = write("numbered.so", bytes);
    machine_.libc_version = "2.27";
    EXPECT_EQ(codes(third), "EH-L07");
  }
}

TEST_F(LoaderVerdict, L15AVersionOfALibraryWithoutVersionsEndsTheProcess) {
  const std::string map = write("v.map", "V1 { global: f; }; V2 { global: g; } V1;\n").native();
  const char* both_functions = "int f(void) { return 1; } int g(void) { return 2; }\n";
  part("libver.so", both_functions, {"-Wl,--version-script=" + map});
  const auto user =
      part("user.so", "int g(void); int u(void) { return g(); }\n", {(folder() / "libver.so").native()});
  EXPECT_EQ(both(user), "");
  part("libver.so", both_functions);
  EXPECT_EQ(both(user), "EH-L15");
  const Closure closure = closed(user);
  ASSERT_EQ(closure.versions.size(), 1u);
  EXPECT_TRUE(closure.versions[0].unversioned);
  EXPECT_EQ(diagnose_closure(machine_, closure).front().value(Key::unversioned),
            (folder() / "libver.so").native());
  // A library that requires versions has a table of them, and then its own symbols may have none.
  library("libver.so",
          std::string("#include <stdlib.h>\nint h(void) { return atoi(\"1\"); }") + both_functions,
          {"-Wl,-soname,libver.so"});
  EXPECT_EQ(both(user), "");
}

TEST_F(LoaderVerdict, AMissingVersionedSymbolIsServedByAnUnversionedLibrary) {
  const std::string map = write("v.map", "V1 { global: f; g; };\n").native();
  part("libver.so", "int f(void) { return 1; } int g(void) { return 2; }\n", {"-Wl,--version-script=" + map});
  part("libother.so", "int g(void) { return 3; }\n");
  const auto user =
      part("user.so", "int g(void); int u(void) { return g(); }\n",
           {"-Wl,--no-as-needed", (folder() / "libver.so").native(), (folder() / "libother.so").native()});
  part("libver.so", "int f(void) { return 1; }\n");
  EXPECT_EQ(both(user), "");
}

constexpr const char* to_relocate = "static int a, b, c, d; int* p[] = {&a, &b, &c, &d};\n";

TEST_F(LoaderVerdict, L10PackedRelocationsThatAreNotAnnouncedAreRefused) {
  ChildRequest linker;
  linker.argv = {"gcc", "-fuse-ld=lld", "-Wl,--version"};
  if (const auto outcome = run_child(linker); !outcome || !outcome->succeeded())
    GTEST_SKIP() << "this compiler finds no lld";
  const std::string source =
      std::string("#include <stdio.h>\nint f(void) { return puts(\"\"); }\n") + to_relocate;
  const auto silent =
      library("silent.so", source, {"-fuse-ld=lld", "-Wl,--pack-dyn-relocs=relr", "-Wl,-soname,silent.so"});
  const Result<binary::BinaryInfo> info = binary::read_binary(silent);
  ASSERT_TRUE(info && info->packed_relocations);
  const auto announces = [](const binary::VersionNeed& need) { return need.version == "GLIBC_ABI_DT_RELR"; };
  if (std::any_of(info->version_needs.begin(), info->version_needs.end(), announces))
    GTEST_SKIP() << "this lld announces them";
  EXPECT_EQ(both(silent), "EH-L10");
  EXPECT_EQ(diagnose_closure(machine_, closed(silent)).front().value(Key::unmarked), "GLIBC_ABI_DT_RELR");
}

TEST_F(LoaderVerdict, L10AnOlderCLibraryLeavesPackedRelocationsUndone) {
  const auto alone = part("alone.so", to_relocate, {"-Wl,-z,pack-relative-relocs"});
  if (!binary::read_binary(alone)->packed_relocations) GTEST_SKIP() << "this linker packs no relocations";
  EXPECT_EQ(both(alone), "");
  machine_.libc_version = "2.35";
  EXPECT_EQ(codes(alone), "EH-L10");
  machine_.libc = Libc::musl;
  machine_.libc_version = "1.2.3";
  EXPECT_EQ(codes(alone), "EH-L10");
  machine_.libc_version = "1.2.4";
  EXPECT_EQ(codes(alone), "");
  machine_.libc_version = "";
  EXPECT_EQ(codes(alone), "");
  ASSERT_EQ(closed(alone).doubts.size(), 1u);
  EXPECT_EQ(closed(alone).doubts[0].code, "EH-L10");
}

TEST_F(LoaderVerdict, UnsupportedLoaderSettingsAreNamed) {
  const auto by = [&](const UnsupportedLoaderSettings& loader_settings) {
    return unsupported_setting(machine_, loader_settings);
  };
  machine_.legacy_hwcaps = {"tls"};
  EXPECT_EQ(by({}), "");
  EXPECT_EQ(by({"", "glibc.rtld.nns=2:glibc.cpu.hwcaps_more=1", ""}), "");
  EXPECT_EQ(by({"/a/audit.so", "", ""}), "LD_AUDIT");
  EXPECT_THAT(by({"", "glibc.rtld.nns=2:glibc.cpu.hwcaps=-AVX2", ""}), HasSubstr("glibc.cpu.hwcaps"));
  EXPECT_EQ(by({"", "", "0"}), "LD_HWCAP_MASK");
  EXPECT_THAT(by({"", "glibc.cpu.hwcap_mask=0", ""}), HasSubstr("hwcap_mask"));
  machine_.legacy_hwcaps.clear();
  EXPECT_EQ(by({"", "", "0"}), "") << "from glibc 2.37 on it leads to no folder";
  machine_.secure = true;
  EXPECT_EQ(by({"/a/audit.so", "", ""}), "");
}

TEST_F(LoaderVerdict, ANeedWithoutANameIsServedByTheProgram) {
  const auto file = part("nameless.so");
  run({"patchelf", "--add-needed", "", file.native()});
  ASSERT_THAT(binary::read_binary(file)->needed, ElementsAre(""));
  EXPECT_EQ(both(file), "");
  // musl ldso/dynlink.c, load_library: EINVAL.
  machine_.libc = Libc::musl;
  EXPECT_EQ(codes(file), "EH-L01");
}

std::string block_of(std::uint64_t bytes, const std::string& name = "block") {
  return "__thread char " + name + "[" + std::to_string(bytes) +
         "] __attribute__((tls_model(\"initial-exec\"))); char* of_" + name + "(void) { return " + name +
         "; }\n";
}

TEST_F(LoaderVerdict, L19StaticTLSBeyondTheLimitIsRefusedAndNearItADoubt) {
  for (const std::uint64_t bytes : {16u, 1500u, 1664u, 4096u, 65536u})
    EXPECT_EQ(both(part("wants.so", block_of(bytes))), bytes > 1664 ? "EH-L19" : "") << bytes;
  const auto close_to_it = part("wants.so", block_of(1680));
  EXPECT_TRUE(closed(close_to_it).loads());
  EXPECT_THAT(closed(close_to_it).doubts, ::testing::SizeIs(1))
      << "what rounding leaves, only the process knows";
}

TEST_F(LoaderVerdict, L19AnAlignmentAboveTheInitialOneIsRefused) {
  const auto aligned = [&](const std::string& alignment) {
    return part("wants.so",
                "static __thread char block[16] __attribute__((tls_model(\"initial-exec\"), aligned(" +
                    alignment + "))); char* of_block(void) { return block; }\n");
  };
#if defined(__x86_64__)
  EXPECT_EQ(both(aligned("64")), "");
#else
  EXPECT_EQ(both(aligned("32")), "");
  EXPECT_EQ(both(aligned("64")), "EH-L19");
#endif
  const auto file = aligned("8192");
  EXPECT_EQ(both(file), "EH-L19");
  const std::string room = "glibc.rtld.optional_static_tls=1048576";
  EXPECT_FALSE(opened(file, "GLIBC_TUNABLES=" + room).opened());
  ASSERT_THAT(closed(file, room).refused, ::testing::SizeIs(1));
  const Closure refused = closed(file, room);
  EXPECT_EQ(refused.refused[0].value(Key::alignment), "8192");
  EXPECT_EQ(refused.refused[0].value(Key::library), file.native());
  // Loaded from the start, which is a remedy.
  EXPECT_TRUE(opened(file, "LD_PRELOAD=" + file.native()).opened());
  machine_.loaded = {{"wants.so", file}};
  EXPECT_EQ(codes(file), "");
}

TEST_F(LoaderVerdict, L19AllLibrariesOfTheClosureShareOneReserve) {
  part("first.so", block_of(1500));
  const auto second =
      part("second.so",
           "char* of_block(void);" + block_of(1500, "more") + "char* all(void) { return of_block(); }\n",
           {(folder() / "first.so").native()});
  EXPECT_EQ(both(second), "EH-L19");
  // However the first one was found: here through the loader's cache.
  std::filesystem::create_directories(folder() / "system");
  std::filesystem::rename(folder() / "first.so", folder() / "system/first.so");
  LoaderCache::Entry entry;
  entry.soname = "first.so";
  entry.path = (folder() / "system/first.so").native();
  entry.flags = machine_.cache_flags;
  machine_.cache = cache_of({entry});
  EXPECT_EQ(closed(second).find("first.so")->found_by, "ld.so.cache");
  EXPECT_EQ(codes(second), "EH-L19");
  // A loaded library may have been there from the start: unknown.
  machine_.loaded = {{"first.so", entry.path}};
  EXPECT_EQ(codes(second), "");
  EXPECT_THAT(closed(second).doubts, ::testing::SizeIs(1));
}

TEST_F(LoaderVerdict, L19TheTunableOfTheRemedyIsHonored) {
  const auto file = part("wants.so", block_of(4096));
  const std::string enough = "glibc.rtld.optional_static_tls=131072", little = "glibc.rtld.nns=1";
  EXPECT_TRUE(opened(file, "GLIBC_TUNABLES=" + enough).opened());
  EXPECT_TRUE(closed(file, enough).loads());
  EXPECT_THAT(closed(file, enough).doubts, IsEmpty());
  EXPECT_EQ(static_tls_reserve(machine_, ""), 1664u);
  EXPECT_EQ(static_tls_reserve(machine_, "a=1:glibc.rtld.optional_static_tls=0x1000:b=2"), 1152u + 4096);
  EXPECT_EQ(static_tls_reserve(machine_, "glibc.rtld.optional_static_tls=many"), 1664u);
  EXPECT_EQ(static_tls_reserve(machine_, "glibc.rtld.nns=17"), 1664u);
  const auto smaller = part("smaller.so", block_of(1000));
  EXPECT_EQ(static_tls_reserve(machine_, little), 800u);
  EXPECT_FALSE(opened(smaller, "GLIBC_TUNABLES=" + little).opened());
  EXPECT_FALSE(closed(smaller, little).loads());
  machine_.secure = true;
  EXPECT_EQ(static_tls_reserve(machine_, enough), 1664u);
}

TEST_F(LoaderVerdict, L19TheFlagOfALibraryWithoutOwnVariablesCountsForNothing) {
  part("small.so", "__thread char block[16]; int d;\n");
  const auto user = part("user.so",
                         "extern __thread char block[16] __attribute__((tls_model(\"initial-exec\")));\n"
                         "__thread char mine[65536];\n"
                         "char* b(void) { return block; } char* m(void) { return mine; }\n",
                         {"-Wl,--allow-shlib-undefined", (folder() / "small.so").native(), "-lc"});
  EXPECT_EQ(both(user), "");
}

TEST_F(LoaderVerdict, ThePreloadedLibrariesSymbolsServeEveryLibrary) {
  const auto provider = part("provider.so", "int lent_to_all(void) { return 0; }\n");
  const auto engine = part("engine.so", "int lent_to_all(void); int f(void) { return lent_to_all(); }\n");
  EXPECT_FALSE(opened(engine).opened());
  EXPECT_EQ(undefined_symbols(closed(engine), reader_, folder()).undefined.size(), 1u);
  EXPECT_TRUE(opened(engine, "LD_PRELOAD=" + provider.native()).opened());
  machine_.loaded = {{"", provider, true}};
  const SymbolFindings findings = undefined_symbols(closed(engine), reader_, folder());
  EXPECT_THAT(findings.undefined, IsEmpty());
  EXPECT_THAT(findings.doubtful, IsEmpty());
}

TEST_F(LoaderVerdict, L12ASymbolOfferedByALibraryOfThisProcessIsADoubt) {
  const auto provider = part("provider.so", "int lent_by_the_process(void) { return 0; }\n");
  const auto engine =
      part("engine.so", "int lent_by_the_process(void); int f(void) { return lent_by_the_process(); }\n");
  void* held = ::dlopen(provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(held, nullptr);
  machine_.loaded = loaded_libraries();
  EXPECT_EQ(::dlopen(engine.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr);
  SymbolFindings findings = undefined_symbols(closed(engine), reader_, folder());
  EXPECT_THAT(findings.undefined, IsEmpty());
  ASSERT_EQ(findings.doubtful.size(), 1u);
  EXPECT_EQ(findings.doubtful[0].lent_by, provider.native());
  EXPECT_EQ(diagnose_symbols(findings.doubtful)[0].code, "EH-L12");
  // A library that the file itself needs serves it, however it was opened.
  const auto needs =
      part("needs.so", "int lent_by_the_process(void); int f(void) { return lent_by_the_process(); }\n",
           {provider.native()});
  findings = undefined_symbols(closed(needs), reader_, folder());
  EXPECT_THAT(findings.undefined, IsEmpty());
  EXPECT_THAT(findings.doubtful, IsEmpty());
  ::dlclose(held);
}

}  // namespace
}  // namespace enginehost::linker
