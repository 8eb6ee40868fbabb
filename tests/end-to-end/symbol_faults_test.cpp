// EH-L10 to L18: all libraries are there, but their functions, variables and versions do not fit together.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

// A library linked against another library (`offered`) of that SONAME than the one that it is shipped with.
std::string linked_against(const std::string& soname, const std::string& offered, const std::string& source,
                           const std::vector<std::string>& flags = {}) {
  const TemporaryFolder folder;
  write_text(folder / soname, offered);
  std::vector<std::string> all = flags;
  all.push_back((folder / soname).native());
  return compile_library(source, all);
}

std::string versioned(const std::string& soname, const std::string& source, const std::string& map) {
  const TemporaryFolder folder;
  write_text(folder / "map", map);
  return compile_library(source,
                         {"-Wl,-soname," + soname, "-Wl,--version-script=" + (folder / "map").native()});
}

TEST(SymbolFaults, ReportsL13ForAFunctionMissingAtItsFirstCall) {
  const std::string lazy =
      compile_library("void missing_kernel(void);\nvoid use(void);\nvoid use(void) { missing_kernel(); }\n",
                      {"-Wl,-z,lazy", "-Wl,-soname,liblater.so"});
  const std::string start = compile_library(
      "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <string.h>\nint here;\n"
      "__attribute__((constructor)) static void begin(void) {\n"
      "  Dl_info where;\n  char path[4096];\n"
      "  if (!dladdr(&here, &where)) return;\n"
      "  snprintf(path, sizeof path, \"%s\", where.dli_fname);\n"
      "  strcpy(strrchr(path, '/') + 1, \"liblater.so\");\n"
      "  void* library = dlopen(path, RTLD_LAZY);\n"
      "  void (*use)(void) = (void (*)(void))dlsym(library, \"use\");\n"
      "  use();\n}\n",
      {"-Wl,-soname,libstart.so"});
  expect_fault({with_library("libstart.so", start, {{"lib/liblater.so", lazy}}),
                "EH-L13",
                {"missing_kernel", "liblater.so"}});
}

// Without --symbols the verdict ignores them, and they are still counted.
TEST(SymbolFaults, InspectCountsUndefinedSymbols) {
  const Workplace workplace;
  const std::string file = (workplace.folder() / "libtwo.so").native();
  write_text(file, compile_library("void first_kernel(void);\nvoid second_kernel(void);\nvoid use(void);\n"
                                   "void use(void) { first_kernel(); second_kernel(); }\n",
                                   {"-Wl,-z,lazy"}));
  const Ended run = workplace.info({"--inspect", file, "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["verdict"].as_string(), "loads");
  EXPECT_THAT(run.document["notes"].dump(),
              testing::AllOf(testing::HasSubstr("2 undefined symbols"), testing::HasSubstr("first_kernel"),
                             testing::HasSubstr("--symbols")));
  const Ended text = workplace.info({"--inspect", file});
  EXPECT_THAT(text.output, testing::HasSubstr("2 undefined symbols that no library of its closure provides"));
  EXPECT_THAT(text.output, testing::Not(testing::HasSubstr("not checked")));
  const Ended strict = workplace.info({"--inspect", file, "--symbols", "--json"});
  EXPECT_EQ(strict.status, 6) << strict.said();
  EXPECT_EQ(strict.code(), "EH-L12");
  EXPECT_TRUE(strict.document["notes"].as_array().empty());
}

TEST(SymbolFaults, ReportsL14ForAMissingVariable) {
  const std::string soname = "libtables.so.1";
  const std::string offered = compile_library("int shared_table[4] = {1};\n", {"-Wl,-soname," + soname});
  const std::string shipped = compile_library("int other_table[4] = {1};\n", {"-Wl,-soname," + soname});
  const std::string user = linked_against(
      soname, offered,
      "extern int shared_table[4];\nint use(void);\nint use(void) { return shared_table[1]; }\n");
  expect_fault({with_library("libuser.so", user, {{"lib/" + soname, shipped}}),
                "EH-L14",
                {"shared_table", "libuser.so"}});
}

TEST(SymbolFaults, ReportsL15WithTheSymbolThatAnOlderBuildLacks) {
  const std::string soname = "libversioned.so.1";
  const std::string offered =
      versioned(soname, "void f1(void) {}\nvoid f2(void) {}\n", "V1 { global: f1; f2; };\n");
  const std::string shipped = versioned(soname, "void f1(void) {}\n", "V1 { global: f1; };\n");
  const std::string user =
      linked_against(soname, offered, "void f2(void);\nvoid use(void);\nvoid use(void) { f2(); }\n");
  expect_fault(
      {with_library("libuser.so", user, {{"lib/" + soname, shipped}}), "EH-L15", {"f2", "V1", "libuser.so"}});
}

TEST(SymbolFaults, ReportsL15WithTheFileThatLacksTheVersion) {
  const std::string soname = "libversioned.so.1";
  const std::string offered = versioned(soname, "void f1(void) {}\n", "V9 { global: f1; };\n");
  const std::string shipped = versioned(soname, "void f1(void) {}\n", "V1 { global: f1; };\n");
  const std::string user =
      linked_against(soname, offered, "void f1(void);\nvoid use(void);\nvoid use(void) { f1(); }\n");
  expect_fault(
      {with_library("libuser.so", user, {{"lib/" + soname, shipped}}), "EH-L15", {"V9", "lib/" + soname}});
}

TEST(SymbolFaults, ReportsL16ForAnExtensionOfAnotherProgram) {
  expect_fault({with_library("libaddon.so", compile_library("void napi_create_error(void);\nvoid use(void);\n"
                                                            "void use(void) { napi_create_error(); }\n")),
                "EH-L16",
                {"napi_create_error", "libaddon.so"}});
}

TEST(SymbolFaults, ReportsL17WithBothFilesOfAnotherVersion) {
  const std::string soname = "libdual.so.1";
  const std::string ours = compile_library(
      "int common(void) { return 2; }\nint only_in_ours(void) { return 2; }\n", {"-Wl,-soname," + soname});
  const std::string theirs = compile_library("int common(void) { return 1; }\n", {"-Wl,-soname," + soname});
  const std::string user = linked_against(
      soname, ours, "int only_in_ours(void);\nint use(void);\nint use(void) { return only_in_ours(); }\n");
  const TemporaryFolder folder;
  const std::filesystem::path held = folder / "elsewhere" / soname;
  write_text(held, theirs);
  RunOptions options;
  options.environment = {"LD_PRELOAD=" + held.native()};
  expect_fault({with_library("libuser.so", user, {{"lib/" + soname, ours}}),
                "EH-L17",
                {held.native(), "lib/" + soname, "only_in_ours"},
                options});
}

}  // namespace
}  // namespace enginehost::test
