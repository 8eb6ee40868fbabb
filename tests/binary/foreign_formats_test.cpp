// Libraries of Windows and macOS, made by lld: what they need and for which machine they are.
#include <gmock/gmock.h>

#include "host/binary/binary.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

using ::testing::ElementsAre;

class Foreign : public test::Workshop {
 protected:
  static std::string tool(const std::string& name) {
    for (const std::string& candidate : {name + "-14", name})
      if (std::filesystem::exists("/usr/bin/" + candidate)) return "/usr/bin/" + candidate;
    return {};
  }
  // engine.dll: needs first.dll, delay-loads second.dll.
  std::filesystem::path windows_library(const std::string& target, const std::string& machine) const {
    const std::string at = folder().native() + "/";
    write("engine.c",
          "__declspec(dllimport) int one(void); __declspec(dllimport) int two(void);\n"
          "int __delayLoadHelper2(void) { return 0; }\n"
          "__declspec(dllexport) int engine(void) { return one() + two(); }\n");
    run({tool("clang"), "--target=" + target, "-c", "-o", at + "engine.obj", at + "engine.c"});
    for (const auto& [name, symbol] : {std::pair{"first", "one"}, {"second", "two"}}) {
      write(std::string(name) + ".def", std::string("LIBRARY ") + name + ".dll\nEXPORTS\n  " + symbol + "\n");
      run({tool("llvm-dlltool"), "-m", machine == "x64" ? "i386:x86-64" : "arm64", "-d", at + name + ".def",
           "-l", at + name + ".lib"});
    }
    run({tool("lld-link"), "/dll", "/noentry", "/machine:" + machine, "/out:" + at + "engine.dll",
         at + "engine.obj", at + "first.lib", at + "second.lib", "/delayload:second.dll",
         "/subsystem:windows,6.02"});
    return folder() / "engine.dll";
  }
};

TEST_F(Foreign, a_Windows_library_tells_machine_imports_and_delayed_imports) {
  if (tool("clang").empty() || tool("lld-link").empty() || tool("llvm-dlltool").empty())
    GTEST_SKIP() << "clang, lld-link or llvm-dlltool is not installed";
  for (const auto& [target, machine, name] : {std::tuple{"x86_64-pc-windows-msvc", "x64", "x86_64"},
                                              {"aarch64-pc-windows-msvc", "arm64", "aarch64"}}) {
    Result<BinaryInfo> info = read_binary(windows_library(target, machine));
    ASSERT_TRUE(info.has_value());
    EXPECT_TRUE(info->problems.empty());
    EXPECT_EQ(info->kind, Kind::pe);
    EXPECT_EQ(info->sniffed, "PE/COFF (Windows)");
    EXPECT_EQ(info->machine, name);
    EXPECT_EQ(info->bits, 64);
    EXPECT_EQ(info->type, Type::shared_library);
    EXPECT_THAT(info->needed, ElementsAre("first.dll"));
    EXPECT_THAT(info->delayed, ElementsAre("second.dll"));
    EXPECT_EQ(info->soname, "engine.dll");
    EXPECT_EQ(info->minimum_os, "6.2");
  }
  const std::string bytes = bytes_of(folder() / "engine.dll");
  for (std::size_t length : {std::size_t{100}, std::size_t{500}, bytes.size() - 600}) {
    Result<BinaryInfo> cut = read_binary(write("cut.dll", bytes.substr(0, length)));
    ASSERT_FALSE(cut->problems.empty()) << length;
    EXPECT_EQ(cut->problems.front().code, "EH-F04") << length;
  }
}

TEST_F(Foreign, a_macOS_library_tells_machine_dylibs_search_paths_and_oldest_system) {
  if (tool("clang").empty() || tool("ld64.lld").empty()) GTEST_SKIP() << "clang or ld64.lld is not installed";
  const std::string at = folder().native() + "/";
  write("one.c", "int one(void) { return 1; }\n");
  write("engine.c", "int one(void); int engine(void) { return one(); }\n");
  for (const std::string name : {"one", "engine"})
    run({tool("clang"), "--target=arm64-apple-macos12", "-c", "-o", at + name + ".o", at + name + ".c"});
  const std::vector<std::string> linker{tool("ld64.lld"), "-arch", "arm64", "-platform_version",
                                        "macos",          "12.3",  "12.3",  "-dylib"};
  auto link = [&](std::vector<std::string> more) {
    std::vector<std::string> command = linker;
    command.insert(command.end(), more.begin(), more.end());
    run(command);
  };
  link({"-undefined", "dynamic_lookup", "-install_name", "@rpath/libone.dylib", "-o", at + "libone.dylib",
        at + "one.o"});
  link({"-undefined", "dynamic_lookup", "-install_name", "@rpath/libengine.dylib", "-rpath", "@loader_path",
        "-rpath", "/opt/x", "-o", at + "libengine.dylib", at + "engine.o", at + "libone.dylib"});
  Result<BinaryInfo> info = read_binary(folder() / "libengine.dylib");
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty());
  EXPECT_EQ(info->kind, Kind::macho);
  EXPECT_EQ(info->machine, "aarch64");
  EXPECT_EQ(info->type, Type::shared_library);
  EXPECT_THAT(info->needed, ElementsAre("@rpath/libone.dylib"));
  EXPECT_THAT(info->rpath, ElementsAre("@loader_path", "/opt/x"));
  EXPECT_EQ(info->soname, "@rpath/libengine.dylib");
  EXPECT_EQ(info->minimum_os, "12.3");
  const std::string bytes = bytes_of(folder() / "libengine.dylib");
  Result<BinaryInfo> cut = read_binary(write("cut.dylib", bytes.substr(0, 300)));
  ASSERT_FALSE(cut->problems.empty());
  EXPECT_EQ(cut->problems.front().code, "EH-F04");
}

TEST_F(Foreign, a_universal_file_lists_all_its_machines) {
  if (tool("clang").empty() || tool("ld64.lld").empty() || tool("llvm-lipo").empty())
    GTEST_SKIP() << "clang, ld64.lld or llvm-lipo is not installed";
  const std::string at = folder().native() + "/";
  write("one.c", "int one(void) { return 1; }\n");
  for (const std::string arch : {"arm64", "x86_64"}) {
    run({tool("clang"), "--target=" + arch + "-apple-macos12", "-c", "-o", at + arch + ".o", at + "one.c"});
    run({tool("ld64.lld"), "-arch", arch, "-platform_version", "macos", "12.0", "12.0", "-dylib",
         "-undefined", "dynamic_lookup", "-o", at + arch + ".dylib", at + arch + ".o"});
  }
  run({tool("llvm-lipo"), "-create", "-output", at + "fat.dylib", at + "x86_64.dylib", at + "arm64.dylib"});
  Result<BinaryInfo> info = read_binary(folder() / "fat.dylib");
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty());
  EXPECT_EQ(info->machine, "x86_64+aarch64");
}

}  // namespace
}  // namespace enginehost::binary
