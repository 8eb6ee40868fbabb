// EH-W, produced with Wine's loader: its error number gives the class. The files show which of the causes
// with that number it is, with the DLL, the file that needs it and the folders that Wine itself searched. W03
// cannot be produced so: Wine loads a DLL whose import is missing and gives no 127 (cases_test.cpp).
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "tests/windows/wine.hpp"

namespace enginehost::test {
namespace {

using linker::altered_search_path;
using linker::load_flags;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class WineFaults : public Wine {
 protected:
  // The only diagnosis that the files give for a DLL which Wine refused.
  Diagnosis found_at_the_files(const std::string& file, std::uint32_t flags = load_flags) {
    std::vector<Diagnosis> all = linker::diagnose_windows(close_over(file, flags));
    EXPECT_EQ(all.size(), 1u) << file;
    if (all.empty()) return {};
    return all.front();
  }
  // The diagnosis when only the number is known.
  Diagnosis reported_by_number(const std::string& file, std::uint32_t number) const {
    Diagnosis diagnosis = diagnose(explain::class_of_windows_error(number));
    diagnosis.with(Key::file, windows_path(file)).with(Key::error_number, std::to_string(number));
    return diagnosis;
  }
  static std::vector<std::string> in_lower_case(std::vector<std::string> texts) {
    for (std::string& text : texts) text = to_lower(text);
    return texts;
  }
  std::vector<std::string> lower(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(to_lower(windows_path(name)));
    return paths;
  }
};

TEST_F(WineFaults, W01Error126NamesTheMissingDllItsUserAndTheFolders) {
  dll("engine/gone.dll");
  dll("engine/torch_cuda.dll", {"engine/gone.dll"});
  dll("engine/torch.dll", {"engine/torch_cuda.dll"});
  fs::remove(folder() / "engine/gone.dll");
  machine_.path = {windows_path("tools"), "C:\\nowhere"};
  for (const std::uint32_t flags : {load_flags + 0u, altered_search_path + 0u}) {
    const WineAnswer answer = load("engine/torch.dll", flags);
    ASSERT_EQ(answer.error, 126u) << answer.said;
    EXPECT_EQ(explain::class_of_windows_error(answer.error), "EH-W01");
    const Diagnosis diagnosis = found_at_the_files("engine/torch.dll", flags);
    EXPECT_EQ(diagnosis.code, "EH-W01");
    EXPECT_EQ(diagnosis.value(Key::library), "gone.dll");
    EXPECT_EQ(diagnosis.value(Key::needed_by), windows_path("engine/torch_cuda.dll"));
    EXPECT_THAT(diagnosis.values(Key::chain),
                ElementsAre(windows_path("engine/torch.dll"), windows_path("engine/torch_cuda.dll")));
    // Wine's log, which an application never sees, names the same files.
    EXPECT_THAT(answer.not_found, ElementsAre("gone.dll <- " + lower({"engine/torch_cuda.dll"})[0]));
    EXPECT_EQ(in_lower_case(diagnosis.values(Key::searched)), answer.searched.at("gone.dll"));
    EXPECT_THAT(explain::render(diagnosis).cause, HasSubstr("torch_cuda.dll needs gone.dll"));
  }
  EXPECT_THAT(load("engine/torch.dll", altered_search_path).searched.at("gone.dll"), Contains("c:\\nowhere"));
}

TEST_F(WineFaults, W01Error126OfTheFileItselfIsDistinguished) {
  const WineAnswer answer = load("engine/engine.dll", load_flags);
  ASSERT_EQ(answer.error, 126u) << answer.said;
  EXPECT_THAT(answer.not_found, IsEmpty());
  const Diagnosis diagnosis = found_at_the_files("engine/engine.dll");
  EXPECT_EQ(diagnosis.code, "EH-F01");
  EXPECT_EQ(diagnosis.value(Key::file), windows_path("engine/engine.dll"));
}

TEST_F(WineFaults, W02Error126BesideTheEngineDependsOnTheFlags) {
  dll("engine/dep.dll");
  dll("engine/engine.dll", {"engine/dep.dll"});
  machine_.path = {windows_path("tools")};
  const WineAnswer plain = load("engine/engine.dll", 0);
  ASSERT_EQ(plain.error, 126u) << plain.said;
  const Diagnosis diagnosis = found_at_the_files("engine/engine.dll", 0);
  EXPECT_EQ(diagnosis.code, "EH-W02");
  EXPECT_EQ(diagnosis.value(Key::library), "dep.dll");
  EXPECT_EQ(diagnosis.value(Key::needed_by), windows_path("engine/engine.dll"));
  EXPECT_EQ(diagnosis.value(Key::present_at), windows_path("engine/dep.dll"));
  EXPECT_EQ(in_lower_case(diagnosis.values(Key::searched)), plain.searched.at("dep.dll"));
  for (const std::uint32_t flags : {load_flags + 0u, altered_search_path + 0u}) {
    EXPECT_THAT(load("engine/engine.dll", flags).modules,
                ElementsAre(lower({"engine/engine.dll"})[0], lower({"engine/dep.dll"})[0]));
    EXPECT_TRUE(close_over("engine/engine.dll", flags).closure.loads());
  }
}

TEST_F(WineFaults, W04Error193IsExplainedByTheContent) {
  if (!has_tool("clang-14") || !has_tool("lld-link-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
  const std::string whole = bytes_of(dll("engine/whole.dll"));
  struct Content {
    std::string bytes, code, reported;
  };
  const Content contents[] = {
      {for_arm64(whole), "EH-W04", "aarch64"},
      {for_i386(), "EH-W04", "i386"},
      {"<!DOCTYPE html><title>Log in</title>" + std::string(3000, ' '), "EH-F05", "Log in"},
      {"", "EH-F02", ""},
      {whole.substr(0, whole.size() / 2), "EH-F04", ""},
      {std::string(whole.size(), '\0'), "EH-F08", ""},
      {bytes_of(library("elf.so", "int elf;\n")), "EH-W04", "ELF"},
  };
  for (const Content& content : contents) {
    write("engine/engine.dll", content.bytes);
    const WineAnswer answer = load("engine/engine.dll", load_flags);
    ASSERT_EQ(answer.error, 193u) << content.code << "\n" << answer.said;
    EXPECT_EQ(explain::class_of_windows_error(answer.error), "EH-W04");
    const Diagnosis diagnosis = found_at_the_files("engine/engine.dll");
    EXPECT_EQ(diagnosis.code, content.code);
    EXPECT_THAT(explain::render(diagnosis).cause, HasSubstr(content.reported));
    EXPECT_THAT(diagnosis.value(Key::file), HasSubstr("engine.dll"));
  }
}

TEST_F(WineFaults, W04Error126OfADependencyNamesItsUser) {
  const std::string whole = bytes_of(dll("engine/dep.dll"));
  dll("engine/engine.dll", {"engine/dep.dll"});
  write("engine/dep.dll", for_arm64(whole));
  const WineAnswer answer = load("engine/engine.dll", load_flags);
  // The number means a missing file; no file is missing.
  ASSERT_EQ(answer.error, 126u) << answer.said;
  EXPECT_THAT(answer.not_found, ElementsAre("dep.dll <- " + lower({"engine/engine.dll"})[0]));
  const Diagnosis diagnosis = found_at_the_files("engine/engine.dll");
  EXPECT_EQ(diagnosis.code, "EH-W04");
  EXPECT_EQ(diagnosis.value(Key::file), windows_path("engine/dep.dll"));
  EXPECT_EQ(diagnosis.value(Key::needed_by), windows_path("engine/engine.dll"));
  EXPECT_EQ(diagnosis.value(Key::built_for), "aarch64");
}

TEST_F(WineFaults, W04ADllOfAnotherMachineEndsTheSearch) {
  if (!has_tool("clang-14") || !has_tool("lld-link-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
  const std::string whole = bytes_of(dll("engine/dep.dll"));
  dll("engine/engine.dll", {"engine/dep.dll"});
  write("app/dep.dll", whole);
  write("engine/dep.dll", for_arm64(whole));
  EXPECT_EQ(load("engine/engine.dll", load_flags).error, 126u);
  EXPECT_FALSE(close_over("engine/engine.dll", load_flags).closure.loads());
  write("engine/dep.dll", for_i386());
  EXPECT_THAT(load("engine/engine.dll", load_flags).modules,
              ElementsAre(lower({"engine/engine.dll"})[0], lower({"app/dep.dll"})[0]));
  EXPECT_EQ(close_over("engine/engine.dll", load_flags).closure.find("dep.dll")->path,
            windows_path("app/dep.dll"));
}

constexpr const char* start_code =
    "int __stdcall DllMainCRTStartup(void* self, unsigned reason, void* rest) {\n"
    "  (void)self; (void)rest;\n"
    "  if (reason == 1) { %s }\n"
    "  return 1;\n}\n";

std::string starting_with(const std::string& statement) {
  std::string body = start_code;
  return body.replace(body.find("%s"), 2, statement);
}

TEST_F(WineFaults, W05Errors1114And998OfStartCode) {
  dll("engine/fails.dll", {}, starting_with("return 0;"));
  dll("engine/crashes.dll", {}, starting_with("*(volatile int*)16 = 1;"));
  dll("engine/on-fails.dll", {"engine/fails.dll"});
  dll("engine/on-crashes.dll", {"engine/crashes.dll"});
  for (const auto& [file, number] : std::map<std::string, std::uint32_t>{{"engine/fails.dll", 1114},
                                                                         {"engine/on-fails.dll", 1114},
                                                                         {"engine/crashes.dll", 998},
                                                                         {"engine/on-crashes.dll", 998}}) {
    const WineAnswer answer = load(file, load_flags);
    ASSERT_EQ(answer.error, number) << file << "\n" << answer.said;
    // The files are intact: only the number is known, and it does not identify the file.
    EXPECT_TRUE(close_over(file, load_flags).closure.loads());
    const Diagnosis diagnosis = reported_by_number(file, number);
    EXPECT_EQ(diagnosis.code, "EH-W05");
    EXPECT_EQ(explain::render(diagnosis).cause,
              fs::path(file).filename().native() +
                  ", or a DLL that it needs, failed in its start code (error " + std::to_string(number) +
                  ")");
    EXPECT_EQ(explain::category(diagnosis), history::Category::crash);
  }
}

TEST_F(WineFaults, W07OurSearchIgnoresADllOnPath) {
  dll("engine/ggml-base.dll");
  dll("engine/engine.dll", {"engine/ggml-base.dll"});
  fs::copy_file(folder() / "engine/ggml-base.dll", folder() / "tools/GGML-base.DLL");
  machine_.path = {windows_path("tools")};
  const linker::WindowsClosure closure = close_over("engine/engine.dll", load_flags);
  ASSERT_EQ(closure.closure.warnings.size(), 1u);
  const Diagnosis& warning = closure.closure.warnings[0];
  EXPECT_EQ(warning.code, "EH-W07");
  EXPECT_EQ(warning.value(Key::library), "ggml-base.dll");
  const std::string wanted = to_lower(warning.value(Key::wanted)),
                    shadow = to_lower(warning.value(Key::path));
  EXPECT_NE(wanted, shadow);
  EXPECT_THAT(load("engine/engine.dll", load_flags).modules, Contains(wanted));
  EXPECT_THAT(load("engine/engine.dll", 0).modules, Contains(shadow));
}

// An engine with a real delay-load directory, as MSVC's linker makes it, and the C library's own delay-load
// helper.
TEST_F(WineFaults, W08ADelayLoadedDllFailsAtItsFirstUse) {
  if (!has_tool("clang-14") || !has_tool("lld-link-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto def = write("late.def", "LIBRARY late.dll\nEXPORTS\nf_gone\n");
  run({"llvm-dlltool-14", "-m", "i386:x86-64", "-d", def.native(), "-l", (folder() / "late.lib").native()});
  const auto source = write("e.c",
                            "__declspec(dllimport) int f_gone(void);\n"
                            "__declspec(dllexport) int use(void) { return f_gone(); }\n");
  run({"clang-14", "--target=x86_64-pc-windows-gnu", "-c", "-o", (folder() / "e.obj").native(),
       source.native()});
  const std::string libraries = "/usr/x86_64-w64-mingw32/lib/";
  run({"lld-link-14", "/dll", "/noentry", "/nodefaultlib", "/alternatename:__image_base__=__ImageBase",
       "/delayload:late.dll", "/out:" + (folder() / "engine/engine.dll").native(),
       (folder() / "e.obj").native(), (folder() / "late.lib").native(), libraries + "libmingwex.a",
       libraries + "libkernel32.a", libraries + "libmsvcrt.a"});
  machine_.path = {windows_path("tools")};
  const WineAnswer missing = load("engine/engine.dll", load_flags, {"call=use"});
  EXPECT_TRUE(missing.loaded);
  ASSERT_EQ(missing.called, "exception 0xC06D007E") << missing.said;
  EXPECT_EQ(explain::class_of_windows_error(0xC06D007Eu), "EH-W08");
  const linker::WindowsClosure closure = close_over("engine/engine.dll", load_flags);
  ASSERT_EQ(closure.delayed.size(), 1u);
  EXPECT_EQ(closure.delayed[0].name, "late.dll");
  std::vector<std::string> searched;
  for (const linker::Searched& place : closure.delayed[0].searched)
    searched.push_back(to_lower(place.directory));
  EXPECT_EQ(searched, missing.searched.at("late.dll"));
  ASSERT_EQ(closure.closure.warnings.size(), 1u);
  EXPECT_EQ(closure.closure.warnings[0].code, "EH-W08");
  EXPECT_EQ(closure.closure.warnings[0].value(Key::needed_by), windows_path("engine/engine.dll"));
  // A DLL of that name without the function.
  dll("tools/late.dll");
  EXPECT_EQ(load("engine/engine.dll", load_flags, {"call=use"}).called, "exception 0xC06D007F");
  EXPECT_EQ(explain::class_of_windows_error(0xC06D007Fu), "EH-W08");
  EXPECT_THAT(close_over("engine/engine.dll", load_flags).delayed, IsEmpty());
}

TEST_F(WineFaults, W09Error32OfAFileInUseIsNoDamage) {
  dll("engine/engine.dll");
  const WineAnswer answer =
      load("engine/engine.dll", load_flags, {"hold=" + windows_path("engine/engine.dll")});
  ASSERT_EQ(answer.error, 32u) << answer.said;
  EXPECT_TRUE(close_over("engine/engine.dll", load_flags).closure.loads());
  const Diagnosis diagnosis = reported_by_number("engine/engine.dll", answer.error);
  EXPECT_EQ(diagnosis.code, "EH-W09");
  EXPECT_EQ(explain::render(diagnosis).cause,
            windows_path("engine/engine.dll") + " is held by another program (error 32)");
  EXPECT_EQ(explain::category(diagnosis), history::Category::transient);
  EXPECT_TRUE(load("engine/engine.dll", load_flags).loaded);
}

TEST_F(WineFaults, W11Error8OfAnImageBeyondMemory) {
  // The size of the image in its header: nearly 2 GiB.
  std::string bytes = bytes_of(dll("engine/engine.dll"));
  const std::size_t header = static_cast<unsigned char>(bytes.at(60));
  bytes.replace(header + 24 + 56, 4, std::string("\0\0\xff\x7f", 4));
  write("engine/engine.dll", bytes);
  EXPECT_TRUE(load("engine/engine.dll", load_flags).loaded);
  const WineAnswer answer = load("engine/engine.dll", load_flags, {}, {"prlimit", "--as=2000000000"});
  ASSERT_EQ(answer.error, 8u) << answer.said;
  const Diagnosis diagnosis = reported_by_number("engine/engine.dll", answer.error);
  EXPECT_EQ(diagnosis.code, "EH-W11");
  EXPECT_EQ(explain::render(diagnosis).cause,
            "there is not enough page file for " + windows_path("engine/engine.dll"));
}

TEST_F(WineFaults, W12AMissingAssemblyIsReadFromTheManifest) {
  const auto manifest = write("source.manifest",
                              "<assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\" manifestVersion=\"1.0\">"
                              "<dependency><dependentAssembly><assemblyIdentity type=\"win32\" "
                              "name=\"Engine.Nowhere\" version=\"1.0.0.0\"/></dependentAssembly></dependency>"
                              "</assembly>\n");
  const auto script = write("source.rc", "2 24 \"" + manifest.native() + "\"\n");
  const std::string object = (folder() / "resources.o").native();
  run({"x86_64-w64-mingw32-windres", script.native(), "-O", "coff", "-o", object});
  library("engine/engine.dll", "__declspec(dllexport) int f(void) { return 1; }\n",
          {"-nostdlib", "-Wl,--entry,0", object}, {"x86_64-w64-mingw32-gcc"});
  EXPECT_TRUE(load("engine/engine.dll", load_flags).loaded) << "Windows gives 14001 here";
  const linker::WindowsClosure closure = close_over("engine/engine.dll", load_flags);
  ASSERT_EQ(closure.closure.warnings.size(), 1u);
  EXPECT_EQ(closure.closure.warnings[0].code, "EH-W12");
  EXPECT_THAT(std::string(closure.closure.warnings[0].value(Key::assembly)), HasSubstr("Engine.Nowhere"));
  EXPECT_EQ(explain::class_of_windows_error(14001), "EH-W12");
}

TEST_F(WineFaults, APathOfMoreThan260CharactersLoadsUnderWine) {
  const std::string deep = "engine/" + std::string(120, 'a') + "/" + std::string(120, 'b') + "/engine.dll";
  dll("engine/short.dll");
  fs::create_directories((folder() / deep).parent_path());
  fs::copy_file(folder() / "engine/short.dll", folder() / deep);
  // Windows without long paths refuses this one (206 or 3). Wine has no such limit, and neither does
  // EngineHost.
  EXPECT_TRUE(load(deep, load_flags).loaded);
  EXPECT_TRUE(close_over(deep, load_flags).closure.loads());
  EXPECT_EQ(explain::class_of_windows_error(206), "EH-W12");
}

}  // namespace
}  // namespace enginehost::test
