// The ONNX Runtime adapter without ONNX Runtime: its file and its refusals.
#include <filesystem>
#include <fstream>

#include "tests/engines/elf_names.hpp"
#include "tests/engines/plugin_host.hpp"

namespace enginehost::engines::tests {
namespace {

using testing::HasSubstr;

class OnnxRuntimePlugin : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "enginehost-XXXXXX";
    root = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::ofstream(root + "/" + path) << text;
  }
  void compile(const std::string& path, const std::string& source, const std::string& flags = "") const {
    write("source.c", source);
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    std::string command = "gcc -shared -fPIC -o '" + root + "/" + path + "' '" + root + "/source.c' " + flags;
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  Library library{plugin_path("onnxruntime")};
  std::string root;
};

TEST(OnnxRuntimeFile, ExportsOneSymbolAndIsLinkedToNoRuntime) {
  ElfNames names = read_elf_names(plugin_path("onnxruntime"));
  EXPECT_THAT(names.exported, testing::ElementsAre(ENGINE_PLUGIN_SYMBOL));
  for (const std::string& needed : names.needed) EXPECT_THAT(needed, testing::Not(HasSubstr("onnxruntime")));
}

TEST_F(OnnxRuntimePlugin, ReportsItsIdentity) {
  EXPECT_STREQ(library->engine, "onnxruntime");
  EXPECT_EQ(library->flags & ENGINE_PLUGIN_UNLOADABLE, 0u);
  EXPECT_STREQ(library->capabilities[0], "device.cpu");
  EXPECT_STREQ(library->capabilities[1], "format.onnx");
  EXPECT_STREQ(library->capabilities[2], "versions.>=1.17,<2");
  EXPECT_EQ(library->capabilities[3], nullptr);
}

TEST_F(OnnxRuntimePlugin, NamesTheSearchedFoldersWhenThereIsNoLibrary) {
  write("onnxruntime/capi/libonnxruntime_providers_shared.so", "not the one");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_CORRUPT);
  EXPECT_EQ(engine.get(), nullptr);
  EXPECT_EQ(engine.call.details["missing_library"], "libonnxruntime.so");
  EXPECT_THAT(engine.call.message(), HasSubstr(root));
}

TEST_F(OnnxRuntimePlugin, PassesOnTheLoadersMessage) {
  write("lib/libonnxruntime.so.1.22.0",
        "this is no library, but long enough to hold an ELF header: ............");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_THAT(engine.call.message(), HasSubstr("invalid ELF header"));
  EXPECT_EQ(engine.call.details["path"], root + "/lib/libonnxruntime.so.1.22.0");
}

TEST_F(OnnxRuntimePlugin, NamesALibraryThatIsMissingUnderTheRuntime) {
  compile("libneeded.so", "int needed(void) { return 1; }", "-Wl,-soname,libneeded.so.7");
  compile("onnxruntime/capi/libonnxruntime.so.1.22.0", "int needed(void); int use(void) { return needed(); }",
          "'" + root + "/libneeded.so'");
  std::filesystem::remove(root + "/libneeded.so");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNAVAILABLE);
  EXPECT_EQ(engine.call.details["missing_library"], "libneeded.so.7");
}

TEST_F(OnnxRuntimePlugin, RefusesALibraryThatIsNotTheRuntime) {
  compile("lib/libonnxruntime.so", "int nothing;");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.call.details["missing_symbol"], "OrtGetApiBase");
}

TEST_F(OnnxRuntimePlugin, DoesNotTakeTheRuntimeFromADependencyOfTheFile) {
  compile("libother.so", "const void* OrtGetApiBase(void) { return 0; }");
  compile("lib/libonnxruntime.so",
          "const void* OrtGetApiBase(void); const void* use(void) { return OrtGetApiBase(); }",
          "'" + root + "/libother.so' -Wl,-rpath," + root);
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.call.details["missing_symbol"], "OrtGetApiBase");
}

TEST_F(OnnxRuntimePlugin, RefusesARuntimeThatIsTooOld) {
  compile("lib/libonnxruntime.so",
          "static const void* get(unsigned v) { (void)v; return 0; } static const char* text(void) { return "
          "\"1.16.3\"; }"
          "struct base { const void* (*get)(unsigned); const char* (*text)(void); };"
          "static const struct base one = { get, text }; const struct base* OrtGetApiBase(void) { return "
          "&one; }");
  Engine engine(library, root);
  EXPECT_EQ(engine.status, ENGINE_UNSUPPORTED);
  EXPECT_EQ(engine.call.details["found"], "1.16.3");
  EXPECT_EQ(engine.call.details["required"], "1.17");
}

TEST_F(OnnxRuntimePlugin, RefusesAnUnknownOptionOfItsOwn) {
  Engine engine(library, root, {{"onnxruntime.color", "red"}});
  EXPECT_EQ(engine.status, ENGINE_INVALID);
  EXPECT_EQ(engine.call.details["option"], "onnxruntime.color");
}

}  // namespace
}  // namespace enginehost::engines::tests
