// Where Windows searches the needed DLLs, with real DLLs in a described C:\ (W01 to W08).
#include "host/linker/windows.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class Windows : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    if (!has_tool("x86_64-w64-mingw32-gcc")) GTEST_SKIP() << "the Windows cross compiler is not installed";
    for (const char* name : {"Windows/System32", "app", "engine", "engine/sub", "tools"})
      std::filesystem::create_directories(folder() / name);
    machine_.drives['C'] = folder();
    machine_.application_directory = "C:\\app";
    machine_.system_directory = "C:\\Windows\\System32";
    machine_.windows_directory = "C:\\Windows";
    machine_.current_directory = "C:\\";
    machine_.known_dlls = {"kernel32.dll"};
  }

  // A DLL in the described tree, under its path there ("engine/a.dll"), that calls one function of each of
  // `needs`.
  std::filesystem::path dll(const std::string& name, const std::vector<std::string>& needs = {},
                            const std::vector<std::string>& more = {}) const {
    const auto symbol = [](const std::string& file) {
      std::string stem = std::filesystem::path(file).stem().native();
      std::replace(stem.begin(), stem.end(), '-', '_');
      return "f_" + stem;
    };
    std::string source, calls = "0";
    std::vector<std::string> flags{"-nostdlib", "-Wl,--entry,0"};
    for (const std::string& need : needs) {
      source += "__declspec(dllimport) int " + symbol(need) + "(void);\n";
      calls += " + " + symbol(need) + "()";
      flags.push_back((folder() / need).native());
    }
    source += "__declspec(dllexport) int " + symbol(name) + "(void) { return " + calls + "; }\n";
    flags.insert(flags.end(), more.begin(), more.end());
    return library(name, source, flags, {"x86_64-w64-mingw32-gcc"});
  }
  // An object with a file version, and with a manifest if an assembly is named.
  std::string resources(const std::string& version, const std::string& assembly = {}) const {
    std::string script = "1 VERSIONINFO\nFILEVERSION " + version + "\nBEGIN\nEND\n";
    if (!assembly.empty())
      script +=
          "2 24 \"" +
          write("source.manifest",
                "<assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\" manifestVersion=\"1.0\">"
                "<dependency><dependentAssembly><assemblyIdentity type=\"win32\" name=\"" +
                    assembly + "\" version=\"9.0.21022.8\"/></dependentAssembly></dependency></assembly>\n")
              .native() +
          "\"\n";
    const std::string object = (folder() / "resources.o").native();
    run({"x86_64-w64-mingw32-windres", write("source.rc", script).native(), "-O", "coff", "-o", object});
    return object;
  }
  WindowsClosure close_over(const std::string& file, std::uint32_t flags = load_flags,
                            std::vector<std::string> preloaded = {}) {
    reader_ = Reader();
    return close_windows(machine_, {file, std::move(preloaded), flags}, reader_);
  }
  static Diagnosis only(const WindowsClosure& closure) {
    std::vector<Diagnosis> all = diagnose_windows(closure);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Diagnosis{} : all.front();
  }
  static std::vector<std::string> warnings(const WindowsClosure& closure) {
    std::vector<std::string> codes;
    for (const Diagnosis& warning : closure.closure.warnings)
      codes.push_back(std::string(warning.code_text()));
    return codes;
  }
  static std::vector<std::string> folders(const std::vector<WindowsPlace>& places) {
    std::vector<std::string> all;
    for (const WindowsPlace& place : places) all.push_back(place.directory);
    return all;
  }

  WindowsMachine machine_;
  Reader reader_;
};

TEST_F(Windows, W01AMissingDLLIsNamedWithItsImporterTheChainAndTheFolders) {
  dll("engine/gone.dll");
  dll("engine/torch_cuda.dll", {"engine/gone.dll"});
  dll("engine/torch.dll", {"engine/torch_cuda.dll"});
  std::filesystem::remove(folder() / "engine/gone.dll");
  machine_.path = {"C:\\tools", "C:\\nowhere"};
  const WindowsClosure closure = close_over("C:\\engine\\torch.dll");
  EXPECT_FALSE(closure.closure.loads());
  const Diagnosis diagnosis = only(closure);
  EXPECT_EQ(diagnosis.code, "EH-W01");
  EXPECT_EQ(diagnosis.value(Key::library), "gone.dll");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "C:\\engine\\torch_cuda.dll");
  EXPECT_THAT(diagnosis.values(Key::chain),
              ElementsAre("C:\\engine\\torch.dll", "C:\\engine\\torch_cuda.dll"));
  EXPECT_THAT(diagnosis.values(Key::searched), ElementsAre("C:\\engine", "C:\\app", "C:\\Windows\\System32"));
  // The order of a plain LoadLibrary has PATH at its end and marks the missing folders.
  const WindowsClosure plain = close_over("C:\\engine\\torch_cuda.dll", 0);
  ASSERT_EQ(plain.closure.missing.size(), 1u);
  EXPECT_EQ(plain.closure.missing[0].searched.back().directory, "C:\\nowhere");
  EXPECT_FALSE(plain.closure.missing[0].searched.back().exists);
}

TEST_F(Windows, W02ADLLBesideTheEngineIsFoundWithOurFlagsOnly) {
  dll("engine/dep.dll");
  dll("engine/engine.dll", {"engine/dep.dll"});
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll").closure.loads());
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll", altered_search_path).closure.loads());
  const Diagnosis diagnosis = only(close_over("C:\\engine\\engine.dll", 0));
  EXPECT_EQ(diagnosis.code, "EH-W02");
  EXPECT_EQ(diagnosis.value(Key::present_at), "C:\\engine\\dep.dll");
}

TEST_F(Windows, OnlyTheFolderOfTheLoadedDLLCountsNotOfItsDependencies) {
  dll("engine/sub/bottom.dll");
  dll("engine/sub/middle.dll", {"engine/sub/bottom.dll"});
  dll("engine/engine.dll", {"engine/sub/middle.dll"});
  machine_.added_directories = {"C:\\engine\\sub"};
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll").closure.loads());
  // Found through the program's folder, middle.dll does not make its own folder searched.
  std::filesystem::rename(folder() / "engine/sub/middle.dll", folder() / "app/middle.dll");
  std::filesystem::rename(folder() / "engine/sub/bottom.dll", folder() / "tools/bottom.dll");
  machine_.added_directories.clear();
  EXPECT_EQ(only(close_over("C:\\engine\\engine.dll")).value(Key::library), "bottom.dll");
  // A DLL that our loader opens first, by path, serves every later need of its base name.
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll", load_flags, {"C:\\tools\\bottom.dll"}).closure.loads());
}

TEST_F(Windows, TheOrderIsThatOfTheFlags) {
  machine_.path = {"C:\\p"};
  machine_.added_directories = {"C:\\added"};
  const std::string engine = "C:\\engine\\x.dll";
  EXPECT_THAT(folders(windows_places(machine_, load_flags, engine)),
              ElementsAre("C:\\engine", "C:\\app", "C:\\added", "C:\\Windows\\System32"));
  EXPECT_THAT(folders(windows_places(machine_, search_dll_load_dir, engine)), ElementsAre("C:\\engine"));
  EXPECT_THAT(folders(windows_places(machine_, 0, engine)),
              ElementsAre("C:\\app", "C:\\Windows\\System32", "C:\\Windows", "C:\\", "C:\\p"));
  EXPECT_THAT(folders(windows_places(machine_, altered_search_path, engine)),
              ElementsAre("C:\\engine", "C:\\Windows\\System32", "C:\\Windows", "C:\\", "C:\\p"));
  machine_.safe_search = false;
  EXPECT_THAT(folders(windows_places(machine_, 0, engine)),
              ElementsAre("C:\\app", "C:\\", "C:\\Windows\\System32", "C:\\Windows", "C:\\p"));
  machine_.dll_directory = "C:\\set";
  EXPECT_THAT(folders(windows_places(machine_, 0, engine)),
              ElementsAre("C:\\app", "C:\\set", "C:\\Windows\\System32", "C:\\Windows", "C:\\p"));
  machine_.default_flags = search_system32;
  EXPECT_THAT(folders(windows_places(machine_, 0, engine)), ElementsAre("C:\\Windows\\System32"));
  EXPECT_THAT(folders(windows_places(machine_, altered_search_path, engine)),
              ElementsAre("C:\\engine", "C:\\Windows\\System32"));
}

TEST_F(Windows, W04ADLLOfAnotherMachineOrNoDLLIsNamedAsSuch) {
  const auto dep = dll("engine/dep.dll");
  dll("engine/engine.dll", {"engine/dep.dll"});
  const std::string whole = bytes_of(dep);
  std::string arm = whole;
  const std::size_t pe = static_cast<unsigned char>(arm[60]);
  arm[pe + 4] = '\x64';
  arm[pe + 5] = '\xaa';
  write("engine/dep.dll", arm);
  Diagnosis diagnosis = only(close_over("C:\\engine\\engine.dll"));
  EXPECT_EQ(diagnosis.code, "EH-W04");
  EXPECT_EQ(diagnosis.value(Key::file), "C:\\engine\\dep.dll");
  EXPECT_EQ(diagnosis.value(Key::built_for), "aarch64");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "C:\\engine\\engine.dll");
  // It ends the search. One for 32-bit x86, which a 64-bit Windows also runs, is skipped (tests/windows
  // compares this with a loader).
  write("app/dep.dll", whole);
  EXPECT_FALSE(close_over("C:\\engine\\engine.dll").closure.loads());
  std::string narrow = whole;
  narrow[pe + 4] = '\x4c';
  narrow[pe + 5] = '\x01';
  write("engine/dep.dll", narrow);
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll").closure.loads());

  write("engine/dep.dll", "<html><title>Log in</title></html>");
  EXPECT_EQ(only(close_over("C:\\engine\\engine.dll")).code, "EH-F05");
  write("engine/dep.dll", whole.substr(0, 1024));
  EXPECT_EQ(only(close_over("C:\\engine\\engine.dll")).code, "EH-F04");
  std::filesystem::copy_file("/proc/self/exe", folder() / "engine/dep.dll",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_FALSE(close_over("C:\\engine\\engine.dll").closure.loads());
}

TEST_F(Windows, W07AnotherCopyThatAPlainSearchWouldTakeIsNamed) {
  dll("engine/ggml-base.dll");
  dll("engine/engine.dll", {"engine/ggml-base.dll"});
  std::filesystem::copy_file(folder() / "engine/ggml-base.dll", folder() / "Windows/System32/GGML-base.DLL");
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  ASSERT_THAT(warnings(closure), ElementsAre("EH-W07"));
  const Diagnosis& warning = closure.closure.warnings[0];
  EXPECT_EQ(warning.value(Key::path), "C:\\Windows\\System32\\ggml-base.dll");
  EXPECT_EQ(warning.value(Key::wanted), "C:\\engine\\ggml-base.dll");
  // Our flags take the engine's own file, which PATH and System32 cannot shadow (cases 7 and 28 of the list
  // of cases).
  EXPECT_EQ(closure.closure.find("ggml-base.dll")->path, "C:\\engine\\ggml-base.dll");
}

TEST_F(Windows, W06AnMSVCRuntimeOlderThanTheToolsetOfItsUserIsAWarning) {
  dll("app/msvcp140.dll", {}, {resources("14,16,27033,0")});
  const auto engine = dll("engine/engine.dll", {"app/msvcp140.dll"});
  std::string bytes = bytes_of(engine);
  const std::size_t optional_header = static_cast<unsigned char>(bytes[60]) + 24u;
  bytes[optional_header + 2] = 14;  // the linker's version: 14.40
  bytes[optional_header + 3] = 40;
  write("engine/engine.dll", bytes);
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  ASSERT_THAT(warnings(closure), ElementsAre("EH-W06"));
  const Diagnosis& warning = closure.closure.warnings[0];
  EXPECT_EQ(warning.value(Key::path), "C:\\app\\msvcp140.dll");
  EXPECT_EQ(warning.value(Key::found), "14.16.27033.0");
  EXPECT_EQ(warning.value(Key::required), "14.40");
  EXPECT_EQ(warning.value(Key::required_by), "C:\\engine\\engine.dll");
  dll("app/msvcp140.dll", {}, {resources("14,40,33810,0")});
  EXPECT_THAT(warnings(close_over("C:\\engine\\engine.dll")), IsEmpty());
}

TEST_F(Windows, W12AManifestThatNamesAnAssemblyIsAWarning) {
  dll("engine/engine.dll", {}, {resources("1,0,0,0", "Microsoft.VC90.CRT")});
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads()) << "Windows looks in a store that is not described";
  ASSERT_THAT(warnings(closure), ElementsAre("EH-W12"));
  EXPECT_EQ(closure.closure.warnings[0].value(Key::assembly), "Microsoft.VC90.CRT 9.0.21022.8");
}

TEST_F(Windows, W03ADLLFoundFirstThatLacksAFunctionIsNamed) {
  dll("engine/dep.dll");
  dll("engine/engine.dll", {"engine/dep.dll"});
  std::filesystem::remove(folder() / "engine/dep.dll");
  library("Windows/System32/dep.dll", "__declspec(dllexport) int older(void) { return 1; }\n",
          {"-nostdlib", "-Wl,--entry,0"}, {"x86_64-w64-mingw32-gcc"});
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  const std::vector<Diagnosis> found = missing_functions(machine_, closure, reader_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W03");
  EXPECT_EQ(found[0].value(Key::symbol), "f_dep");
  EXPECT_EQ(found[0].value(Key::path), "C:\\Windows\\System32\\dep.dll");
  EXPECT_EQ(found[0].value(Key::required_by), "C:\\engine\\engine.dll");
  dll("Windows/System32/dep.dll");
  EXPECT_THAT(missing_functions(machine_, close_over("C:\\engine\\engine.dll"), reader_), IsEmpty());
}

TEST_F(Windows, NamesIgnoreCaseAndLoadedModulesServeByBaseName) {
  dll("engine/Dep.dll");
  dll("engine/engine.dll", {"engine/Dep.dll"});
  std::filesystem::rename(folder() / "engine/Dep.dll", folder() / "engine/DEP.DLL");
  EXPECT_EQ(close_over("C:\\ENGINE\\engine.DLL").closure.find("C:\\ENGINE\\DEP.DLL")->found_by,
            "folder of engine.DLL");
  machine_.loaded = {{"dep.dll", "C:\\elsewhere\\dep.dll"}};
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  EXPECT_EQ(closure.closure.objects.size(), 2u);
}

TEST_F(Windows, AModuleOfThatNameFromElsewhereDoesNotServeForAWholePath) {
  dll("engine/dep.dll");
  dll("engine/engine.dll", {"engine/dep.dll"});
  std::filesystem::remove(folder() / "engine/dep.dll");
  machine_.loaded = {{"engine.dll", "C:\\other\\engine.dll"}};
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  ASSERT_EQ(closure.closure.missing.size(), 1u);
  EXPECT_EQ(closure.closure.missing[0].name, "dep.dll");
  machine_.loaded = {{"engine.dll", "c:/ENGINE/engine.dll"}};
  EXPECT_TRUE(close_over("C:\\engine\\engine.dll").closure.loads()) << "it is loaded already";
}

TEST_F(Windows, APISetsAndKnownDLLsAreNeverLookedFor) {
  // As in the imports of engines compiled by MSVC.
  const auto def = write("set.def", "LIBRARY api-ms-win-core-file-l1-1-0.dll\nEXPORTS\nf_set\n");
  const auto def2 = write("known.def", "LIBRARY KERNEL32.dll\nEXPORTS\nf_known\n");
  run({"x86_64-w64-mingw32-dlltool", "-d", def.native(), "-l", (folder() / "set.a").native()});
  run({"x86_64-w64-mingw32-dlltool", "-d", def2.native(), "-l", (folder() / "known.a").native()});
  library("engine/engine.dll",
          "__declspec(dllimport) int f_set(void); __declspec(dllimport) int f_known(void);\n"
          "__declspec(dllexport) int f(void) { return f_set() + f_known(); }\n",
          {"-nostdlib", "-Wl,--entry,0", (folder() / "set.a").native(), (folder() / "known.a").native()},
          {"x86_64-w64-mingw32-gcc"});
  write("engine/kernel32.dll", "a trap");
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  ASSERT_NE(closure.closure.find("KERNEL32.dll"), nullptr);
  EXPECT_EQ(closure.closure.find("KERNEL32.dll")->found_by, "known DLL");
}

TEST_F(Windows, W08ADelayLoadedDLLThatIsNotThereIsAWarning) {
  if (!has_tool("clang-14") || !has_tool("lld-link-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto def = write("gone.def", "LIBRARY gone.dll\nEXPORTS\ngone\n");
  run({"llvm-dlltool-14", "-m", "i386:x86-64", "-d", def.native(), "-l", (folder() / "gone.lib").native()});
  const auto source = write("e.c",
                            "__declspec(dllimport) int gone(void);\n"
                            "long long __delayLoadHelper2(void) { return 0; }\n"
                            "__declspec(dllexport) int f(void) { return gone(); }\n");
  run({"clang-14", "--target=x86_64-pc-windows-msvc", "-c", "-o", (folder() / "e.obj").native(),
       source.native()});
  run({"lld-link-14", "/dll", "/noentry", "/nodefaultlib", "/delayload:gone.dll",
       "/out:" + (folder() / "engine/engine.dll").native(), (folder() / "e.obj").native(),
       (folder() / "gone.lib").native()});
  const WindowsClosure closure = close_over("C:\\engine\\engine.dll");
  EXPECT_TRUE(closure.closure.loads());
  ASSERT_THAT(warnings(closure), ElementsAre("EH-W08"));
  EXPECT_EQ(closure.closure.warnings[0].value(Key::library), "gone.dll");
  EXPECT_THAT(closure.closure.warnings[0].values(Key::searched), Not(Contains("C:\\engine")));
}

TEST_F(Windows, SystemNamesAreKnownWithoutAWindowsTree) {
  EXPECT_EQ(system_name("API-MS-Win-Core-File-L1-1-0.dll"), SystemName::api_set);
  EXPECT_EQ(system_name("ext-ms-win-x.dll"), SystemName::api_set);
  EXPECT_EQ(system_name("KERNEL32.dll"), SystemName::windows);
  for (const char* name :
       {"dxgi.dll", "D3D12.dll", "bcrypt.dll", "pdh.dll", "MFPlat.DLL", "msi.dll", "icu.dll", "virtdisk.dll",
        "kernel.appcore.dll", "xinput9_1_0.dll", "WINSPOOL.DRV", "bthprops.cpl"})
    EXPECT_EQ(system_name(name), SystemName::windows) << name;
  // The DLLs of other installers: older runtimes, DirectX of 2010, CUDA, an optional feature, an import
  // library.
  for (const char* name :
       {"msvcp120.dll", "msvcr100.dll", "d3dx9_43.dll", "d3dcompiler_43.dll", "x3daudio1_7.dll",
        "cudart64_12.dll", "cublas64_12.dll", "cudnn64_9.dll", "winhvplatform.dll", "mfuuid.dll"})
    EXPECT_EQ(system_name(name), SystemName::no) << name;
  EXPECT_EQ(system_name("MSVCP140.dll"), SystemName::redistributable);
  EXPECT_EQ(system_name("vcomp140.dll"), SystemName::redistributable);
  EXPECT_EQ(system_name("VCRUNTIME140_1.dll"), SystemName::redistributable);
  EXPECT_EQ(system_name("nvcuda.dll"), SystemName::driver);
  EXPECT_EQ(system_name("cudart64_110.dll"), SystemName::no);
}

}  // namespace
}  // namespace enginehost::linker
