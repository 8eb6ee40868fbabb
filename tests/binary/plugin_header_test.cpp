// The plugin's descriptor is read from the file; the reasons why it cannot be read are distinguished.
#include "host/binary/binary.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

using State = PluginHeader::State;

constexpr const char* declaration =
    "#include <stdint.h>\n"
    "struct plugin { char magic[8]; uint32_t size; uint16_t major, minor, host, reserved; uint32_t flags; "
    "void* p; };\n";

class Header : public test::Workshop {
 protected:
  PluginHeader read(const std::string& definition, const std::vector<std::string>& flags = {}) const {
    Result<PluginHeader> header = read_plugin_header(library("x.so", declaration + definition, flags));
    EXPECT_TRUE(header.has_value());
    return header ? *header : PluginHeader{};
  }
};

TEST_F(Header, AnInitializedObjectIsReadWithAllItsNumbers) {
  for (const char* style : {"-Wl,--hash-style=gnu", "-Wl,--hash-style=sysv", "-Wl,--hash-style=both"}) {
    const PluginHeader header = read(
        "void other(void) {}\n"
        "const struct plugin engine_plugin_v1 = {\"ENGPLUG\", sizeof(struct plugin), 1, 3, 2, 0, 1, "
        "other};\n",
        {style});
    EXPECT_EQ(header.state, State::found) << style;
    EXPECT_EQ(header.magic, std::string("ENGPLUG\0", 8));
    EXPECT_EQ(header.size, 32u);
    EXPECT_EQ(header.abi_major, 1);
    EXPECT_EQ(header.abi_minor, 3);
    EXPECT_EQ(header.host_minor, 2);
    EXPECT_EQ(header.flags, 1u);
  }
}

TEST_F(Header, ThePublishedHeaderHasTheOffsetsThatAreRead) {
  Result<PluginHeader> header =
      read_plugin_header(library("real.so",
                                 "#include <enginehost/engine_plugin.h>\n"
                                 "ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {.magic = "
                                 "\"ENGPLUG\", .size = sizeof(engine_plugin),\n"
                                 "  .abi_major = ENGINE_ABI_MAJOR, .abi_minor = 9, .host_minor = 4, .flags = "
                                 "ENGINE_PLUGIN_UNLOADABLE};\n",
                                 {"-I" + test::source_path("/plugin-api/include")}));
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->state, State::found);
  EXPECT_EQ(header->abi_major, 1);
  EXPECT_EQ(header->abi_minor, 9);
  EXPECT_EQ(header->host_minor, 4);
  EXPECT_EQ(header->flags, 1u);
  EXPECT_GE(header->size, 24u);
}

// The loader writes the pointers to these texts, by relocations of several forms.
TEST_F(Header, TheTextsAreReadWithoutTheLoader) {
  const std::string plugin =
      "#include <enginehost/engine_plugin.h>\n"
      "#include <stddef.h>\n"
      "static const char* const list[] = {\"device.cpu\", \"format.toy\", NULL};\n"
      "ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {.magic = \"ENGPLUG\", .size = "
      "sizeof(engine_plugin), .engine = \"toy\", .capabilities = list};\n";
  const std::string include = "-I" + test::source_path("/plugin-api/include");
  for (const std::vector<std::string>& flags :
       std::vector<std::vector<std::string>>{{include},
                                             {include, "-Wl,-z,pack-relative-relocs"},
                                             {include, "-Wl,-z,now"},
                                             {include, "-Wl,-s"}}) {
    const auto texts = read_plugin_texts(library("texts.so", plugin, flags));
    ASSERT_TRUE(texts) << flags.back();
    EXPECT_EQ(texts->engine, "toy") << flags.back();
    EXPECT_EQ(texts->capabilities, (std::vector<std::string>{"device.cpu", "format.toy"})) << flags.back();
  }
}

TEST(ServedVersions, AreThoseOfTheCapability) {
  const std::vector<std::string> onnx = {"device.cpu", "format.onnx", "versions.>=1.17,<2"};
  EXPECT_EQ(served_versions(onnx), ">=1.17,<2");
  for (const char* version : {"1.17", "1.17.0", "1.32.0", "1.99"})
    EXPECT_TRUE(serves_version(onnx, version)) << version;
  for (const char* version : {"1.16.3", "2.0", "2.0.0", "1.17rc1", "0"})
    EXPECT_FALSE(serves_version(onnx, version)) << version;
  EXPECT_EQ(served_versions({"device.cpu"}), "");
  EXPECT_TRUE(serves_version({"device.cpu"}, "0.1")) << "nothing is stated";
  EXPECT_TRUE(serves_version({"versions.whatever"}, "0.1")) << "what cannot be read forbids nothing";
  for (const char* range : {">=1", "==2.11", ">1.0, <2", "<=3.4.5,>2"})
    EXPECT_TRUE(is_version_range(range)) << range;
  for (const char* range : {"", "1.17", ">=", ">=1,", "~=1.2", ">=x", "!=2", ">=1;<2"})
    EXPECT_FALSE(is_version_range(range)) << range;
}

TEST_F(Header, TextsThatAreNotInTheFileAreUnknown) {
  const std::string include = "-I" + test::source_path("/plugin-api/include");
  for (const char* definition :
       {"int engine_plugin_v1(void) { return 0; }\n", "int other;\n",
        "#include <enginehost/engine_plugin.h>\n"
        "ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {.magic = \"ENGPLUG\"};\n",
        "#include <enginehost/engine_plugin.h>\nextern const char elsewhere[];\n"
        "ENGINE_EXPORT const engine_plugin engine_plugin_v1 = {.magic = \"ENGPLUG\", .engine = "
        "elsewhere};\n"})
    EXPECT_FALSE(read_plugin_texts(library("none.so", definition, {include}))) << definition;
  EXPECT_FALSE(read_plugin_texts("/etc/passwd"));
}

TEST_F(Header, ALibraryWithoutSectionHeadersIsReadAsWell) {
  const std::filesystem::path file =
      library("x.so", std::string(declaration) +
                          "const struct plugin engine_plugin_v1 = {\"ENGPLUG\", 32, 7, 0, 0, 0, 0, 0};\n");
  std::string bytes = bytes_of(file);
  bytes.replace(40, 8, std::string(8, '\0'));  // e_shoff
  bytes.replace(58, 6, std::string(6, '\0'));  // e_shentsize, e_shnum, e_shstrndx
  Result<PluginHeader> header = read_plugin_header(write("stripped.so", bytes));
  ASSERT_TRUE(header.has_value());
  EXPECT_EQ(header->state, State::found);
  EXPECT_EQ(header->abi_major, 7);
}

TEST_F(Header, AnObjectFilledByCodeHasNoBytes) {
  const PluginHeader header = read(
      "struct plugin engine_plugin_v1;\n"
      "__attribute__((constructor)) static void fill(void) { engine_plugin_v1.major = 1; }\n");
  EXPECT_EQ(header.state, State::no_bytes);
}

TEST_F(Header, AnotherMagicIsReportedWithItsBytes) {
  const PluginHeader header =
      read("const struct plugin engine_plugin_v1 = {\"NOTPLUG\", 32, 1, 0, 0, 0, 0, 0};\n");
  EXPECT_EQ(header.state, State::wrong_magic);
  EXPECT_EQ(header.magic, std::string("NOTPLUG\0", 8));
}

TEST_F(Header, WithoutTheSymbolTheExportsAreNamedInstead) {
  const PluginHeader header = read("int engine_create(void) { return 0; }\n");
  EXPECT_EQ(header.state, State::symbol_absent);
  EXPECT_EQ(header.exports, std::vector<std::string>{"engine_create"});
}

TEST_F(Header, TheNamesOfALibrarysVersionsAreNoExports) {
  const std::string map = write("v.map", "V1 { global: engine_create; local: *; };\n").native();
  const PluginHeader header =
      read("int engine_create(void) { return 0; }\n", {"-Wl,--version-script=" + map});
  EXPECT_EQ(header.state, State::symbol_absent);
  EXPECT_EQ(header.exports, std::vector<std::string>{"engine_create"});
}

TEST_F(Header, AHiddenObjectIsAbsent) {
  const PluginHeader header = read(
      "__attribute__((visibility(\"hidden\"))) struct plugin engine_plugin_v1 = {\"ENGPLUG\", 32, 1, 0, 0, "
      "0, 0, 0};\n"
      "int visible;\n");
  EXPECT_EQ(header.state, State::symbol_absent);
}

TEST_F(Header, AFileThatIsNotALibraryHasItsOwnProblem) {
  EXPECT_EQ(read_plugin_header(write("x.so", "<html></html>")).error().code, "EH-F05");
  EXPECT_EQ(read_plugin_header(write("y.so", "")).error().code, "EH-F02");
  EXPECT_EQ(read_plugin_header(folder() / "absent.so").error().code, "EH-F01");
  const std::string whole =
      bytes_of(library("z.so", std::string(declaration) + "struct plugin engine_plugin_v1 = {0};\n"));
  EXPECT_EQ(read_plugin_header(write("cut.so", whole.substr(0, 5000))).error().code, "EH-F04");
}

TEST_F(Header, ExportsAndImportsCarryTheirVersions) {
  const std::string map =
      write("v.map", "V1 { global: old; new; local: *; };\nV2 { global: new; } V1;\n").native();
  Result<SymbolTable> table =
      read_symbols(library("libver.so",
                           "#include <stdio.h>\n"
                           "int old(void) { return 1; }\nint helper(void) { return puts(\"\"); }\n"
                           "__asm__(\".symver new1, new@V1\");\nint new1(void) { return 1; }\n"
                           "__asm__(\".symver new2, new@@V2\");\nint new2(void) { return helper(); }\n",
                           {"-Wl,--version-script=" + map}));
  ASSERT_TRUE(table.has_value());
  std::string exports, puts;
  for (const Symbol& symbol : table->exports)
    if (symbol.function) exports += symbol.name + (symbol.hidden_version ? "@" : "@@") + symbol.version + " ";
  for (const Symbol& symbol : table->imports)
    if (symbol.name == "puts") puts = symbol.version + " of " + symbol.library;
  for (const char* expected : {"old@@V1", "new@V1", "new@@V2"})
    EXPECT_NE(exports.find(expected), std::string::npos) << exports;
  EXPECT_EQ(exports.find("helper"), std::string::npos);
  EXPECT_EQ(puts.substr(0, 6), "GLIBC_");
  EXPECT_NE(puts.find("of libc.so.6"), std::string::npos);
}

}  // namespace
}  // namespace enginehost::binary
