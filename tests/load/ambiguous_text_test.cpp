// One text of a loader has several causes: each cause is real, the text comes from the loader, and the files
// must show which cause it was.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "host/load/in_process/load.hpp"
#include "host/load/probe_outcome.hpp"
#include "tests/faults/workshop.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::load {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class AmbiguousText : public ::testing::Test {
 protected:
  preflight::Spec spec(const std::filesystem::path& plugin) {
    preflight::Spec spec;
    spec.view = workshop_.folder();
    spec.plugin = plugin;
    spec.search = {workshop_.path("lib")};
    spec.machine = linker::describe_this_machine();
    spec.machine.loaded = linker::loaded_libraries();
    return spec;
  }
  Diagnosis said_by_the_loader(const std::filesystem::path& plugin) {
    auto loaded = load_plugin({plugin, workshop_.folder(), {}, {}});
    if (loaded) return diagnosis_named("it loads");
    return std::move(loaded).error();
  }
  // The text must be the row's, and the class must match the cause.
  Diagnosis expect_reported(const std::filesystem::path& plugin, const char* text, const char* code) {
    const Diagnosis said = said_by_the_loader(plugin);
    EXPECT_THAT(std::string(said.value(Key::os_said)), HasSubstr(text));
    const Diagnosis reported = recheck(said, spec(plugin));
    EXPECT_EQ(reported.code, code) << explain::describe(reported);
    EXPECT_EQ(reported.value(Key::os_said), said.value(Key::os_said));
    return reported;
  }
  // A plugin that needs a library of that SONAME, which is made and removed again.
  std::filesystem::path plugin_needing(const std::string& soname, bool keep = false,
                                       const std::string& folder = "gone") {
    const auto library =
        workshop_.library(folder + "/" + soname, "int g(void){return 1;}", "-Wl,-soname," + soname);
    const auto plugin = workshop_.plugin(
        "libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(workshop_.path(folder)) + " -l:" + soname);
    if (!keep) workshop_.remove(library);
    return plugin;
  }
  faults::Workshop workshop_;
};

constexpr const char* no_such_file = "cannot open shared object file: No such file or directory";

TEST_F(AmbiguousText, NoSuchFileF01TheFileItselfIsMissing) {
  expect_reported(workshop_.path("libengine_x.so"), no_such_file, "EH-F01");
}

TEST_F(AmbiguousText, NoSuchFileF11ALinkLeadsNowhere) {
  std::filesystem::create_symlink(workshop_.path("nowhere.so"), workshop_.path("libengine_x.so"));
  const Diagnosis reported = expect_reported(workshop_.path("libengine_x.so"), no_such_file, "EH-F11");
  EXPECT_THAT(std::string(reported.value(Key::target)), HasSubstr("nowhere.so"));
}

TEST_F(AmbiguousText, NoSuchFileL01ANeededLibraryIsMissing) {
  const Diagnosis reported = expect_reported(plugin_needing("libambiguous1.so.1"), no_such_file, "EH-L01");
  EXPECT_EQ(reported.value(Key::library), "libambiguous1.so.1");
}

TEST_F(AmbiguousText, NoSuchFileL02ALibraryOfALibraryIsMissing) {
  const auto gone =
      workshop_.library("lib/libgone2.so.2", "int g(void){return 1;}", "-Wl,-soname,libgone2.so.2");
  const std::string where = faults::quoted(workshop_.path("lib"));
  workshop_.library("lib/libmiddle.so.2", "int g(void);int m(void){return g();}",
                    "-Wl,-soname,libmiddle.so.2 -L" + where + " -l:libgone2.so.2");
  const auto plugin =
      workshop_.plugin("libengine_x.so", "-Wl,--no-as-needed,--allow-shlib-undefined -L" + where +
                                             " -l:libmiddle.so.2 -Wl,-rpath," + where);
  workshop_.remove(gone);
  const Diagnosis reported = expect_reported(plugin, no_such_file, "EH-L02");
  EXPECT_EQ(reported.value(Key::library), "libgone2.so.2");
  EXPECT_THAT(std::string(reported.value(Key::needed_by)), HasSubstr("libmiddle.so.2"));
}

TEST_F(AmbiguousText, NoSuchFileL03TheLibraryIsThereButNotWhereTheLoaderLooks) {
  const Diagnosis reported =
      expect_reported(plugin_needing("libambiguous3.so.1", true, "lib"), no_such_file, "EH-L03");
  EXPECT_EQ(reported.value(Key::present_at), workshop_.path("lib/libambiguous3.so.1").native());
}

TEST_F(AmbiguousText, NoSuchFileL04TheFileIsThereForAnotherProcessor) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  workshop_.make_foreign(plugin);
  EXPECT_EQ(expect_reported(plugin, no_such_file, "EH-L04").value(Key::built_for), test::other_architecture);
}

TEST_F(AmbiguousText, NoSuchFileL05TheLibraryThatIsFoundIsForAnotherProcessor) {
  const auto library = workshop_.library("other/libambiguous5.so.1", "int g(void){return 1;}",
                                         "-Wl,-soname,libambiguous5.so.1");
  const std::string where = faults::quoted(workshop_.path("other"));
  const auto plugin = workshop_.plugin(
      "libengine_x.so", "-Wl,--no-as-needed -L" + where + " -l:libambiguous5.so.1 -Wl,-rpath," + where);
  workshop_.make_foreign(library);
  EXPECT_EQ(expect_reported(plugin, no_such_file, "EH-L05").value(Key::library), "libambiguous5.so.1");
}

TEST_F(AmbiguousText, NoSuchFileL28TheLibraryIsMuslsCLibrary) {
  expect_reported(plugin_needing("libc.musl-x86_64.so.1"), no_such_file, "EH-L28");
}

TEST_F(AmbiguousText, NoSuchFileTheVariableIsIgnoredForItsPrivileges) {
  const auto plugin = plugin_needing("libambiguous30.so.1", true, "outside");
  const Diagnosis said = said_by_the_loader(plugin);
  preflight::Spec spec = this->spec(plugin);
  // Only the description of the process is changed: the loader sees AT_SECURE in privileged programs alone.
  spec.view = workshop_.path("elsewhere");
  spec.machine.secure = true;
  spec.machine.library_path_text = workshop_.path("outside").native();
  const Diagnosis reported = recheck(said, spec);
  EXPECT_EQ(reported.code, "EH-L30") << explain::describe(reported);
  EXPECT_EQ(reported.value(Key::present_at), workshop_.path("outside/libambiguous30.so.1").native());
}

TEST_F(AmbiguousText, NoSuchFileL33AColonInTheFoldersNameMakesTwoFoldersOfIt) {
  const auto plugin = plugin_needing("libambiguous33.so.1", true, "a:b");
  const Diagnosis said = said_by_the_loader(plugin);
  preflight::Spec spec = this->spec(plugin);
  spec.view = workshop_.path("elsewhere");
  spec.machine.library_path_text = workshop_.path("a:b").native();
  spec.machine.library_path = linker::split_library_path(*spec.machine.library_path_text);
  const Diagnosis reported = recheck(said, spec);
  EXPECT_EQ(reported.code, "EH-L33") << explain::describe(reported);
  EXPECT_THAT(explain::describe(reported), HasSubstr("several folders"));
}

constexpr const char* not_mapped = "failed to map segment from shared object";

TEST_F(AmbiguousText, NotMappedL22TheFolderIsMountedNoexec) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a folder noexec";
  const auto folder = workshop_.path("mounted");
  std::filesystem::create_directory(folder);
  if (faults::shell("mount -t tmpfs -o noexec none " + faults::quoted(folder) + " 2>/dev/null") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  std::filesystem::copy_file(workshop_.plugin("libengine_x.so"), folder / "libengine_x.so");
  const Diagnosis reported = expect_reported(folder / "libengine_x.so", not_mapped, "EH-L22");
  faults::shell("umount -l " + faults::quoted(folder));
  EXPECT_EQ(reported.value(Key::mount_point), folder.native());
}

// The text names such a library without its folder.
TEST_F(AmbiguousText, NotMappedL22ANeedIsFoundInAFolderMountedNoexec) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a folder noexec";
  const auto folder = workshop_.path("mounted");
  std::filesystem::create_directory(folder);
  if (faults::shell("mount -t tmpfs -o noexec none " + faults::quoted(folder) + " 2>/dev/null") != 0)
    GTEST_SKIP() << "mounting is not allowed here";
  workshop_.library("built/libneed.so", "int f(void){return 1;}", "-Wl,-soname,libneed.so");
  std::filesystem::copy_file(workshop_.path("built/libneed.so"), folder / "libneed.so");
  const auto plugin =
      workshop_.plugin("libengine_x.so", "-Wl,--no-as-needed -L" + faults::quoted(workshop_.path("built")) +
                                             " -lneed -Wl,-rpath," + faults::quoted(folder));
  const Diagnosis reported = expect_reported(plugin, not_mapped, "EH-L22");
  faults::shell("umount -l " + faults::quoted(folder));
  EXPECT_EQ(reported.value(Key::file), (folder / "libneed.so").native());
}

TEST_F(AmbiguousText, NotMappedL23TheAddressSpaceIsLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs the address space for itself";
#endif
  const auto plugin = workshop_.plugin(
      "libengine_x.so", "-DAT_LOAD='static volatile char big[1ul<<36]; big[0]=1' -mcmodel=large");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit limited = before;
  limited.rlim_cur = 1ul << 34;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  const Diagnosis reported = expect_reported(plugin, not_mapped, "EH-L23");
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_THAT(explain::describe(reported), HasSubstr("16 GiB"));
  EXPECT_THAT(explain::describe(reported), HasSubstr("64 GiB of address space"));
}

// The loader allocates memory besides its mapping of the file; no policy restricts that.
TEST_F(AmbiguousText, NotMappedL23AFailedAllocationIsNoPolicy) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  for (const std::string& said :
       {plugin.native() + ": cannot change memory protections: Cannot allocate memory",
        std::string("out of memory")}) {
    const auto hint = explain::read_loader_text(said);
    ASSERT_TRUE(hint) << said;
    const Diagnosis reported = recheck(explain::to_diagnosis(*hint, said), spec(plugin));
    EXPECT_EQ(reported.code, "EH-L23") << explain::describe(reported);
    EXPECT_EQ(explain::category(reported), history::Category::transient) << said;
    EXPECT_THAT(explain::describe(reported), HasSubstr("close other programs"));
  }
}

// The loader allocates from it; the segments that it maps do not count.
TEST_F(AmbiguousText, NotMappedL23TheDataIsLimited) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const auto hint = explain::read_loader_text("out of memory");
  ASSERT_TRUE(hint);
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_DATA, &before), 0);
  struct rlimit limited = before;
  limited.rlim_cur = 1ul << 34;
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limited), 0);
  const Diagnosis reported = recheck(explain::to_diagnosis(*hint, "out of memory"), spec(plugin));
  ::setrlimit(RLIMIT_DATA, &before);
  EXPECT_EQ(reported.code, "EH-L23") << explain::describe(reported);
  EXPECT_EQ(explain::category(reported), history::Category::transient) << "the limit is the process's";
  EXPECT_THAT(explain::describe(reported), HasSubstr("the data limit of this process is 16 GiB"));
  EXPECT_THAT(explain::describe(reported), HasSubstr("ulimit -d unlimited"));
}

TEST_F(AmbiguousText, NotMappedNeitherMountNorLimitRefusesIt) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const std::string text = plugin.native() + ": " + not_mapped;
  const Diagnosis reported =
      recheck(explain::to_diagnosis(*explain::read_loader_text(text), text), spec(plugin));
  EXPECT_EQ(reported.code, "EH-L24") << explain::describe(reported);
}

TEST_F(AmbiguousText, InvalidHeaderF05F06F07F09F10TheBytesNameTheKind) {
  const std::string padding(200, ' ');
  const std::pair<std::string, const char*> contents[] = {
      {"<!DOCTYPE html><html><head><title>Sign in</title></head></html>" + padding, "EH-F05"},
      {"version https://git-lfs.github.com/spec/v1\noid "
       "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
       "size 12345\n",
       "EH-F07"},
      {std::string("\x1f\x8b\x08\x00", 4) + padding, "EH-F06"},
      {"!<arch>\n" + padding, "EH-F10"},
      {std::string("\xcf\xfa\xed\xfe\x0c\x00\x00\x01\x00\x00\x00\x00\x06\x00\x00\x00", 16) +
           std::string(200, '\0'),
       "EH-F09"},
  };
  int number = 0;
  for (const auto& [bytes, code] : contents) {
    SCOPED_TRACE(code);
    expect_reported(workshop_.file("libengine_" + std::to_string(++number) + ".so", bytes),
                    "invalid ELF header", code);
  }
}

TEST_F(AmbiguousText, InvalidHeaderF09AWindowsLibrary) {
  const auto library = workshop_.library_with("x86_64-w64-mingw32-gcc", "libengine_x.so",
                                              "int f(void){return 1;}", "-nostdlib -e 0");
  if (library.empty()) GTEST_SKIP() << "mingw-w64 is not installed";
  expect_reported(library, "invalid ELF header", "EH-F09");
}

TEST_F(AmbiguousText, InvalidHeaderL28AMuslLibraryFindsALinkerScript) {
  const Diagnosis reported =
      recheck(said_by_the_loader(plugin_needing("libc.so")), spec(workshop_.path("libengine_x.so")));
  EXPECT_EQ(reported.code, "EH-L28") << explain::describe(reported);
}

TEST_F(AmbiguousText, TooShortF02F03F05AnEmptyFileAPieceAndAShortPage) {
  const std::string head(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  expect_reported(workshop_.file("libengine_1.so", ""), "file too short", "EH-F02");
  expect_reported(workshop_.file("libengine_2.so", head), "file too short", "EH-F03");
  expect_reported(workshop_.file("libengine_3.so", "<html></html>"), "file too short", "EH-F05");
}

TEST_F(AmbiguousText, BusErrorF04F14ACutFileWhileLoadingAChangedOneLater) {
  const auto plugin = workshop_.cut(workshop_.plugin("whole.so"), "libengine_x.so", 4096);
  Diagnosis said = diagnose(Code::build_crashed).with(Key::signal, "SIGBUS").with(Key::file, plugin.native());
  Diagnosis later = said;
  EXPECT_EQ(recheck(said.with(Key::stage, "load"), spec(plugin)).code, "EH-F04");
  const Diagnosis changed = recheck(later.with(Key::stage, "selftest"), spec(plugin));
  EXPECT_EQ(changed.code, "EH-F14");
  EXPECT_EQ(changed.value(Key::file), plugin.native());
  workshop_.remove(plugin);
  const auto whole = workshop_.path("whole.so");
  Diagnosis crash = diagnose(Code::build_crashed)
                        .with(Key::signal, "SIGBUS")
                        .with(Key::file, whole.native())
                        .with(Key::stage, "selftest");
  EXPECT_EQ(recheck(crash, spec(whole)).code, "EH-R02") << "a bus error of a whole file is the engine's own";
}

TEST_F(AmbiguousText, CudaErrorsWithoutADriverNameTheMissingDriver) {
  const auto reported = [](const char* native, const char* found) {
    Diagnosis diagnosis = diagnose(Code::engine_reports_error)
                              .with(Key::origin, "cuda")
                              .with(Key::native, native)
                              .with(Key::found, found);
    refine_report(diagnosis);
    return diagnosis.code;
  };
  EXPECT_EQ(reported("35", "0"), "EH-G01");
  EXPECT_EQ(reported("35", "11.4"), "EH-G03");
  EXPECT_EQ(reported("801", "0.0"), "EH-G01");
  EXPECT_EQ(reported("801", "13.0"), "EH-E01");
}

TEST_F(AmbiguousText, Error193IsComparedWithTheFile) {
  const auto reported = [&](const std::filesystem::path& file) {
    return recheck(diagnose(Code::dll_not_for_this_machine)
                       .with(Key::file, file.native())
                       .with(Key::error_number, "193"),
                   spec(file));
  };
  EXPECT_EQ(reported(workshop_.file("a.dll", "")).code, "EH-F02");
  EXPECT_EQ(
      reported(workshop_.file("b.dll", "<!DOCTYPE html><title>Proxy</title>" + std::string(200, ' '))).code,
      "EH-F05");
  EXPECT_EQ(reported(workshop_.library("c.dll", "int f(void){return 1;}")).code, "EH-F09");
  EXPECT_EQ(reported(workshop_.path("not-here.dll")).code, "EH-W04");
  const auto dll =
      workshop_.library_with("x86_64-w64-mingw32-gcc", "d.dll", "int f(void){return 1;}", "-nostdlib -e 0");
  if (dll.empty()) GTEST_SKIP() << "mingw-w64 is not installed";
  const Diagnosis other = reported(dll);
  EXPECT_EQ(other.code, "EH-W04");
  EXPECT_EQ(other.value(Key::problem), "it is built for x86_64");
  EXPECT_EQ(reported(workshop_.cut(dll, "e.dll", 600)).code, "EH-F04");
}

TEST_F(AmbiguousText, Error126ListsWhatTheFileImports) {
  const auto dll = workshop_.library_with(
      "x86_64-w64-mingw32-gcc", "engine.dll",
      "__declspec(dllimport) int GetTickCount(void); int f(void){return GetTickCount();}",
      "-nostdlib -e 0 -lkernel32");
  if (dll.empty()) GTEST_SKIP() << "mingw-w64 is not installed";
  const Diagnosis reported = recheck(diagnose(Code::dll_missing).with(Key::file, dll.native()), spec(dll));
  EXPECT_EQ(reported.code, "EH-W01");
  EXPECT_THAT(reported.values(Key::needs), Contains("KERNEL32.dll"));
}

TEST_F(AmbiguousText, UndefinedSymbolL17TheProcessServesAnotherFileOfThatName) {
  const auto first =
      workshop_.library("first/libdup_e.so.1", "int only_in_1(void){return 1;}", "-Wl,-soname,libdup_e.so.1");
  workshop_.library("lib/libdup_e.so.1", "int only_in_2(void){return 2;}", "-Wl,-soname,libdup_e.so.1");
  const std::string where = faults::quoted(workshop_.path("lib"));
  const auto plugin =
      workshop_.plugin("libengine_x.so", "-DAT_LOAD='extern int only_in_2(void); only_in_2()' -L" + where +
                                             " -l:libdup_e.so.1 -Wl,-rpath," + where);
  void* held = ::dlopen(first.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(held, nullptr);
  const Diagnosis reported = expect_reported(plugin, "undefined symbol: only_in_2", "EH-L17");
  ::dlclose(held);
  EXPECT_EQ(reported.value(Key::path), first.native());
}

TEST_F(AmbiguousText, NoRoomForStaticTlsTheNumbersOfTheWarningAreAdded) {
  const auto plugin = workshop_.plugin("libengine_x.so",
                                       "-DAT_LOAD='static __thread volatile char large[65536] "
                                       "__attribute__((tls_model(\"initial-exec\"))); large[0]=1'");
  const Diagnosis reported = expect_reported(plugin, "cannot allocate memory in static TLS block", "EH-L19");
  EXPECT_THAT(explain::to_json(reported).dump(), HasSubstr("65536"));
}

TEST_F(AmbiguousText, L18TheLoadersNamespacesAreUsedUp) {
  // dlmopen gives each library its own namespace, and a process has sixteen; the texts are the real loader's.
  const auto library = workshop_.library("libalone.so", "int f(void){return 1;}", "-nostdlib");
  std::vector<void*> opened;
  std::string text;
  while (opened.size() < 32) {
    void* handle = ::dlmopen(LM_ID_NEWLM, library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      text = ::dlerror();
      break;
    }
    opened.push_back(handle);
  }
  for (void* handle : opened) ::dlclose(handle);
  ASSERT_FALSE(text.empty());
  const auto hint = explain::read_loader_text(text);
  ASSERT_TRUE(hint) << text;
  EXPECT_EQ(hint->code, "EH-L18");
  EXPECT_EQ(recheck(explain::to_diagnosis(*hint, text), spec(library)).code, "EH-L18");
}

TEST_F(AmbiguousText, AnUnconfirmedTextIsMarkedSo) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const std::string text = plugin.native() + ": undefined symbol: never_heard_of";
  const Diagnosis reported =
      recheck(explain::to_diagnosis(*explain::read_loader_text(text), text), spec(plugin));
  EXPECT_EQ(reported.code, "EH-L12");
  EXPECT_FALSE(reported.value(Key::rechecked).empty());
}

TEST(RefineReport, ARuntimesMessageCountsOnlyForItsOwnFacts) {
  const auto refined = [](const char* message) {
    Diagnosis diagnosis =
        diagnose(Code::engine_reports_error).with(Key::origin, "onnxruntime").with(Key::message, message);
    refine_report(diagnosis);
    return diagnosis;
  };
  EXPECT_EQ(refined("CUDA error: no kernel image is available for execution on the device").code, "EH-G05");
  EXPECT_EQ(refined("Could not load library libcudnn_cnn_infer.so.8. Error: x").value(Key::library),
            "libcudnn_cnn_infer.so.8");
  const Diagnosis missing = refined(
      "Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open "
      "shared object "
      "file: No such file or directory");
  EXPECT_EQ(missing.code, "EH-E01");
  EXPECT_EQ(missing.value(Key::missing_library), "libcublasLt.so.12");
  EXPECT_EQ(refined("the model has no such input").code, "EH-E01");
}

}  // namespace
}  // namespace enginehost::load
