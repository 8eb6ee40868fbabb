// EH-F: files that are whole but are no library that this system can load, or stop being one while in use.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

Fault with_plugin(std::string bytes, const std::string& code, std::vector<std::string> named = {}) {
  named.push_back(plugin);
  return {faulty_build({{plugin, std::move(bytes)}}), code, std::move(named)};
}

// The output of the C compiler for a program with these flags.
std::string compiled(const std::vector<std::string>& flags) {
  const TemporaryFolder folder;
  write_text(folder / "main.c", "int main(void) { return 0; }\n");
  std::vector<std::string> argv = {"cc", (folder / "main.c").native(), "-o", (folder / "made").native()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  run_tool(std::move(argv));
  return read_text(folder / "made");
}

void put(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes.at(at + i) = static_cast<char>(value >> (8 * i) & 0xff);
}

// The offset of the first program header of that type in a 64-bit little-endian ELF file (ELF64: e_phoff at
// 32, e_phnum at 56, 56 bytes a header, p_type first, p_offset at 8).
std::size_t program_header(const std::string& bytes, unsigned type) {
  const std::size_t first = static_cast<unsigned char>(bytes.at(32));
  for (std::size_t i = 0; i < static_cast<unsigned char>(bytes.at(56)); ++i)
    if (static_cast<unsigned char>(bytes.at(first + 56 * i)) == type) return first + 56 * i;
  throw std::runtime_error("the file has no such program header");
}

TEST(ForeignFiles, ReportsF09ForTheMacOsBuild) {
  // A thin 64-bit Mach-O library for arm64 without load commands: magic, cputype, subtype, MH_DYLIB.
  std::string bytes(4096, '\0');
  put(bytes, 0, 0xfeedfacf);
  put(bytes, 4, 0x0100000c);
  put(bytes, 12, 6);
  expect_fault(with_plugin(bytes, "EH-F09", {"Mach-O"}));
}

TEST(ForeignFiles, ReportsF09ForTheWindowsBuild) {
  const TemporaryFolder folder;
  write_text(folder / "engine.c", "__declspec(dllexport) int engine(void) { return 1; }\n");
  ChildRequest request;
  request.argv = {
      "sh", "-c",
      "cd '" + folder.path().native() +
          "' && clang --target=x86_64-pc-windows-msvc -c engine.c -o engine.obj && "
          "$(command -v lld-link lld-link-14 | head -1) /dll /noentry /machine:x64 /out:engine.dll "
          "engine.obj"};
  const auto child = run_child(request);
  if (!child || !child->succeeded()) GTEST_SKIP() << "clang with lld-link is not installed";
  expect_fault(with_plugin(read_text(folder / "engine.dll"), "EH-F09", {"PE/COFF"}));
}

// A user who has just inspected a file is not advised to inspect it.
TEST(ForeignFiles, ARemedyDoesNotRepeatTheLastCommand) {
  const Workplace workplace;
  // The name contains a blank, so that commands must quote it.
  const std::filesystem::path folder = workplace.folder() / "a b";
  write_text(folder / "far.c", "__declspec(dllexport) int far_away(void) { return 1; }\n");
  write_text(folder / "engine.c",
             "__declspec(dllimport) int far_away(void);\n"
             "__declspec(dllexport) int engine(void) { return far_away(); }\n");
  ChildRequest request;
  request.argv = {
      "sh", "-c",
      "cd '" + folder.native() +
          "' && link=\"$(command -v lld-link lld-link-14 | head -1) /dll /noentry /machine:x64\" && "
          "clang --target=x86_64-pc-windows-msvc -c far.c -o far.obj && $link /out:far.dll far.obj && "
          "clang --target=x86_64-pc-windows-msvc -c engine.c -o engine.obj && "
          "$link /out:engine.dll engine.obj far.lib && rm far.dll"};
  const auto child = run_child(request);
  if (!child || !child->succeeded()) GTEST_SKIP() << "clang with lld-link is not installed";
  const std::string file = (folder / "engine.dll").native();
  const std::vector<std::string> arguments = {
      "--inspect", file, "--platform",
      source_path("/tests/profiles/windows11-cudart65-driver595-rtx5090.json")};
  const Ended text = workplace.info(arguments);
  EXPECT_EQ(text.status, 6) << text.said();
  EXPECT_THAT(text.output, testing::HasSubstr("EH-W01"));
  EXPECT_THAT(text.output, testing::HasSubstr("put far.dll into the folder of engine.dll"));
  EXPECT_THAT(text.output, testing::Not(testing::HasSubstr("Visual C++ Redistributable")));
  EXPECT_THAT(text.output, testing::Not(testing::HasSubstr("--inspect")));
}

TEST(ForeignFiles, ReportsF10ForAnObjectFile) {
  expect_fault(with_plugin(compiled({"-c"}), "EH-F10", {"relocatable object"}));
}

TEST(ForeignFiles, ReportsF10ForAProgram) {
  expect_fault(with_plugin(compiled({"-pie", "-fPIE"}), "EH-F10", {"executable"}));
}

TEST(ForeignFiles, ReportsF10ForAStaticArchive) {
  expect_fault(with_plugin("!<arch>\n" + noise(4000), "EH-F10", {"archive"}));
}

TEST(ForeignFiles, ReportsF12ForAFileWithoutADynamicSection) {
  std::string bytes = reference_plugin();
  put(bytes, program_header(bytes, 2), 0);  // PT_DYNAMIC becomes PT_NULL
  expect_fault(with_plugin(bytes, "EH-F12", {"PT_DYNAMIC"}));
}

TEST(ForeignFiles, ReportsF12ForAMisalignedSegment) {
  std::string bytes = reference_plugin();
  const std::size_t load = program_header(bytes, 1);
  put(bytes, load + 8, 8);  // p_offset and p_vaddr no longer agree in their page
  expect_fault(with_plugin(bytes, "EH-F12", {"misaligned"}));
}

TEST(ForeignFiles, ReportsF13ForALibraryThatForbidsDlopen) {
  expect_fault(with_plugin(compile_library("int x;\n", {"-Wl,-z,nodlopen"}), "EH-F13"));
}

TEST(ForeignFiles, ReportsL07WithTheSystemOfAnElfFile) {
  std::string bytes = reference_plugin();
  bytes[7] = 9;  // EI_OSABI: FreeBSD
  expect_fault(with_plugin(bytes, "EH-L07", {"FreeBSD"}));
}

TEST(ForeignFiles, ReportsF14ForAFileThatIsTruncatedInUse) {
  const TemporaryFolder folder;
  const std::string late =
      compile_library("int late(void);\nint late(void) { return 1; }\n", {"-Wl,-soname,liblate.so"});
  write_text(folder / "liblate.so", late);
  const std::string start = compile_library(
      "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <sys/stat.h>\n#include <unistd.h>\nint late(void);\n"
      "__attribute__((constructor)) static void begin(void) {\n"
      "  Dl_info where;\n"
      "  if (!dladdr((void*)late, &where) || chmod(where.dli_fname, 0600) || truncate(where.dli_fname, 64)) "
      "return;\n"
      "  late();\n}\n",
      {(folder / "liblate.so").native(), "-Wl,-soname,libstart.so"});
  TestBuild build = with_library("libstart.so", start, {{"lib/liblate.so", late}});
  expect_fault({build, "EH-F14", {"liblate.so"}});
}

// Replaces the installed file by something that is no file; the next open restores it.
void expect_repaired(const std::function<void(const fs::path&)>& replace) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  const Ended first = workplace.info(open);
  ASSERT_EQ(first.status, 0) << first.said();
  const fs::path library = first.outcome()["library"].as_string();
  fs::remove(library);
  replace(library);
  const Ended found = workplace.run("engine-cache", {"verify", "--json"});
  EXPECT_NE(found.status, 0) << found.said();
  EXPECT_THAT(found.output, testing::HasSubstr(plugin));
  const Ended again = workplace.info(open);
  EXPECT_EQ(again.status, 0) << again.said();
  EXPECT_THAT(again.document["warnings"].dump(), testing::HasSubstr("EH-F11"));
  EXPECT_EQ(read_text(library), reference_plugin());
}

TEST(ForeignFiles, F11RepairsADanglingLink) {
  expect_repaired([](const fs::path& library) { fs::create_symlink("nowhere.so.1", library); });
}

TEST(ForeignFiles, F11RepairsALinkToItself) {
  expect_repaired([](const fs::path& library) { fs::create_symlink(library.filename(), library); });
}

TEST(ForeignFiles, F11RepairsAFolderInPlaceOfALibrary) {
  expect_repaired([](const fs::path& library) { fs::create_directory(library); });
}

}  // namespace
}  // namespace enginehost::test
