// macOS libraries, made by lld or byte by byte: the facts that are read, alone and as slices.
#include <gmock/gmock.h>

#include "host/binary/binary.hpp"
#include "tests/binary/foreign_libraries.hpp"

namespace enginehost::binary {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

std::string bytes_of_number(std::uint64_t value, std::size_t count, bool big_endian) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i)
    bytes[big_endian ? count - 1 - i : i] = static_cast<char>(value >> (8 * i));
  return bytes;
}
std::string little(std::uint64_t value, std::size_t count = 4) {
  return bytes_of_number(value, count, false);
}
std::string big(std::uint64_t value, std::size_t count = 4) { return bytes_of_number(value, count, true); }

// A 64-bit dylib with these load commands, each already padded.
std::string macho(const std::vector<std::string>& commands, std::uint32_t flags = 0x85) {
  std::string all;
  for (const std::string& command : commands) all += command;
  return little(0xfeedfacf) + little(0x0100000c) + little(0) + little(6) + little(commands.size()) +
         little(all.size()) + little(flags) + little(0) + all;
}
std::string command(std::uint32_t kind, std::string body) {
  body.resize((body.size() + 7) / 8 * 8, '\0');
  return little(kind) + little(8 + body.size()) + body;
}
std::string dylib(std::uint32_t kind, const std::string& name) {
  return command(kind, little(24) + little(2) + little(0x10203) + little(0x10000) + name + '\0');
}
// A universal header of 4096 bytes before the slices.
std::string universal(const std::vector<std::string>& slices, const std::vector<std::uint64_t>& cpus,
                      bool wide) {
  std::string head = big(wide ? 0xcafebabf : 0xcafebabe) + big(slices.size()), body;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    head += big(cpus[i] >> 32) + big(cpus[i] & 0xffffffff);
    head += big(4096 + body.size(), wide ? 8 : 4) + big(slices[i].size(), wide ? 8 : 4) + big(12);
    if (wide) head += big(0);
    body += slices[i];
    body.resize((body.size() + 4095) / 4096 * 4096, '\0');
  }
  head.resize(4096, '\0');
  return head + body;
}

class Macho : public ForeignWorkshop {
 protected:
  // libengine.dylib for one architecture; it needs libone.dylib.
  std::filesystem::path engine(const std::string& arch) const {
    const std::string one = macos_library("libone.dylib", arch,
                                          {"-dylib", "-install_name", "@rpath/libone.dylib",
                                           macos_object("one", arch, "int one(void) { return 1; }\n")})
                                .native();
    return macos_library(
        "libengine-" + arch + ".dylib", arch,
        {"-dylib", "-install_name", "@rpath/libengine.dylib", "-current_version", "3.2.1", "-rpath",
         "@loader_path", "-rpath", "/opt/x", one,
         macos_object("engine", arch,
                      "int one(void); int engine(void) { return one(); } __thread int t = 1;\n")});
  }
};

TEST_F(Macho, ReadsMachineDylibsSearchPathsAndOldestSystem) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  const std::filesystem::path file = engine("arm64");
  Result<BinaryInfo> info = read_binary(file);
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty());
  EXPECT_EQ(info->kind, Kind::macho);
  EXPECT_EQ(info->machine, "aarch64");
  EXPECT_EQ(info->type, Type::shared_library);
  EXPECT_THAT(info->needed, ElementsAre("@rpath/libone.dylib"));
  EXPECT_THAT(info->rpath, ElementsAre("@loader_path", "/opt/x"));
  EXPECT_EQ(info->soname, "@rpath/libengine.dylib");
  EXPECT_EQ(info->minimum_os, "12.3");
  EXPECT_EQ(info->macho.sdk, "13.1");
  EXPECT_EQ(info->macho.platform, "macos");
  EXPECT_EQ(info->macho.file_type, "dylib");
  EXPECT_EQ(info->macho.current_version, "3.2.1");
  EXPECT_TRUE(info->macho.two_level_namespace);
  EXPECT_TRUE(info->macho.thread_locals);
  EXPECT_EQ(info->tls_size, 4u);
  EXPECT_EQ(info->build_id.size(), 32u);
  EXPECT_TRUE(info->code_signed);  // lld signs files for Apple's own processors
  EXPECT_TRUE(info->slices.empty());
}

TEST_F(Macho, KeepsTheMeaningOfEveryLoadCommand) {
  const std::string use =
      command(0x80000018, little(28) + little(0x1a741800) + little(0x20000) + little(0x10000) + little(4) +
                              "@rpath/libupward2.dylib" + '\0');
  Result<BinaryInfo> info = read_binary(
      write("all.dylib",
            macho({dylib(0xd, "@rpath/liball.dylib"), dylib(0xc, "/usr/lib/libSystem.B.dylib"),
                   dylib(0x80000018, "@rpath/libweak.dylib"), dylib(0x8000001f, "@rpath/libinner.dylib"),
                   dylib(0x20, "@rpath/liblazy.dylib"), dylib(0x80000023, "@rpath/libupward.dylib"), use,
                   command(0x21, little(0) + little(64) + little(1))})));
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty());
  EXPECT_THAT(info->needed, ElementsAre("/usr/lib/libSystem.B.dylib", "@rpath/libinner.dylib",
                                        "@rpath/libupward.dylib", "@rpath/libupward2.dylib"));
  EXPECT_THAT(info->optional, ElementsAre("@rpath/libweak.dylib"));
  EXPECT_THAT(info->delayed, ElementsAre("@rpath/liblazy.dylib"));
  EXPECT_THAT(info->reexported, ElementsAre("@rpath/libinner.dylib"));
  EXPECT_TRUE(info->macho.encrypted);
  std::vector<std::string> ways;
  for (const DylibNeed& need : info->macho.dylibs) ways.emplace_back(name_of(need.how));
  EXPECT_THAT(ways, ElementsAre("required", "weak", "re-exported", "lazy", "upward", "upward"));
  EXPECT_EQ(info->macho.dylibs.front().current_version, "1.2.3");
  EXPECT_EQ(info->macho.dylibs.front().compatibility_version, "1.0.0");
}

TEST_F(Macho, AUniversalFileListsAllItsMachinesAndOneCanBeChosen) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  run({tool("llvm-lipo"), "-create", "-output", at("fat.dylib"), engine("x86_64"), engine("arm64")});
  Result<BinaryInfo> info = read_binary(folder() / "fat.dylib");
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty());
  EXPECT_EQ(info->machine, "x86_64+aarch64");
  ASSERT_EQ(info->slices.size(), 2u);
  EXPECT_EQ(info->slices[1].machine, "aarch64");
  Result<BinaryInfo> chosen = read_binary(folder() / "fat.dylib", "aarch64");
  EXPECT_EQ(chosen->machine, "aarch64");
  EXPECT_TRUE(chosen->code_signed);
  EXPECT_EQ(chosen->needed_size, info->slices[1].offset + info->slices[1].size);
  Result<BinaryInfo> other = read_binary(folder() / "fat.dylib", "x86_64");
  EXPECT_FALSE(other->code_signed);
  EXPECT_LT(other->needed_size, chosen->needed_size);
  EXPECT_EQ(read_binary(folder() / "fat.dylib", "ppc")->machine, "x86_64+aarch64");
  // An intact slice stays intact when the other one is cut.
  const std::string bytes = bytes_of(folder() / "fat.dylib");
  write("cut.dylib", bytes.substr(0, bytes.size() - 100));
  EXPECT_TRUE(read_binary(folder() / "cut.dylib", "x86_64")->problems.empty());
  EXPECT_EQ(read_binary(folder() / "cut.dylib", "aarch64")->problems.front().code, "EH-F04");
  EXPECT_EQ(read_binary(folder() / "cut.dylib")->problems.front().code, "EH-F04");
}

TEST_F(Macho, BothUniversalHeadersAndAllSubtypesAreKnown) {
  const std::string one = macho({dylib(0xc, "/a")}), two = macho({dylib(0xc, "/b")});
  std::string pointer_signing = one;
  pointer_signing.replace(8, 4, little(0x80000002));
  for (bool wide : {false, true}) {
    const std::filesystem::path file =
        write("fat.dylib", universal({two, pointer_signing}, {0x0100000700000008, 0x0100000c80000002}, wide));
    Result<BinaryInfo> info = read_binary(file);
    EXPECT_EQ(info->slices.at(0).machine, "x86_64h") << wide;
    EXPECT_EQ(info->slices.at(1).machine, "arm64e");
    Result<BinaryInfo> chosen = read_binary(file, "arm64e");
    EXPECT_EQ(chosen->machine, "arm64e");
    EXPECT_THAT(chosen->needed, ElementsAre("/a"));
  }
  // A class file of Java begins with the same four bytes.
  EXPECT_EQ(read_binary(write("A.class", big(0xcafebabe) + big(0x00000034) + std::string(200, '\0')))->kind,
            Kind::unknown);
}

TEST_F(Macho, NamesOldBigEndianLibraries) {
  Result<BinaryInfo> info =
      read_binary(write("old.dylib", big(0xfeedface) + big(18) + big(0) + big(6) + big(0) + big(0) +
                                         big(0x85) + std::string(64, '\0')));
  EXPECT_EQ(info->kind, Kind::macho);
  EXPECT_EQ(info->machine, "ppc");
  EXPECT_EQ(info->bits, 32);
  EXPECT_TRUE(info->problems.empty());
}

TEST_F(Macho, EveryTruncationIsF04) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  const std::string bytes = bytes_of(engine("arm64"));
  for (std::size_t length = 28; length < bytes.size(); length += 211) {
    Result<BinaryInfo> cut = read_binary(write("cut.dylib", bytes.substr(0, length)));
    ASSERT_FALSE(cut->problems.empty()) << length;
    EXPECT_EQ(cut->problems.front().code, "EH-F04") << length;
  }
}

TEST_F(Macho, ProgramsAndObjectsAreF10AndBundlesAreLibraries) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  Result<BinaryInfo> object = read_binary(macos_object("one", "arm64", "int one(void) { return 1; }\n"));
  ASSERT_FALSE(object->problems.empty());
  EXPECT_EQ(object->problems.front().code, "EH-F10");
  EXPECT_EQ(object->problems.front().value(Key::type), "object");
  Result<BinaryInfo> bundle = read_binary(macos_library("one.so", "arm64", {"-bundle", at("one-arm64.o")}));
  EXPECT_TRUE(bundle->problems.empty());
  EXPECT_EQ(bundle->type, Type::shared_library);
  EXPECT_EQ(bundle->macho.file_type, "bundle");
  std::string program = macho({});
  program.replace(12, 4, little(2));
  EXPECT_EQ(read_binary(write("program", program))->problems.front().value(Key::type), "executable");
}

TEST_F(Macho, SymbolsNameTheLibraryTheyComeFrom) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  Result<SymbolTable> table = read_symbols(engine("x86_64"));
  ASSERT_TRUE(table.has_value());
  EXPECT_TRUE(table->complete);
  std::vector<std::string> exports, imports;
  for (const Symbol& symbol : table->exports)
    exports.push_back(symbol.name + (symbol.thread_local_storage ? " (thread-local)" : ""));
  for (const Symbol& symbol : table->imports) imports.push_back(symbol.name + " of " + symbol.library);
  EXPECT_THAT(exports, UnorderedElementsAre("_engine", "_t (thread-local)"));
  EXPECT_THAT(imports, ::testing::IsSupersetOf({"_one of @rpath/libone.dylib"}));
}

TEST_F(Macho, ChainedImportsServeWhenTheSymbolTableIsGone) {
  const std::uint32_t head = 28, imports = 3 * 4;
  const std::string names = std::string("\0_one\0_maybe\0_any\0", 18);
  auto import = [](std::uint32_t ordinal, bool weak, std::uint32_t name) {
    return little(ordinal | (weak ? 0x100u : 0u) | name << 9);
  };
  const std::string fixups = little(0) + little(0) + little(head) + little(head + imports) + little(3) +
                             little(1) + little(0) + import(1, false, 1) + import(2, true, 6) +
                             import(0xfe, false, 13) + names;
  const std::vector<std::string> libraries{dylib(0xc, "/one.dylib"), dylib(0x80000018, "/two.dylib")};
  const std::size_t at_size =
      macho({libraries[0], libraries[1], command(0x80000034, std::string(8, '\0'))}).size();
  const std::string file =
      macho({libraries[0], libraries[1], command(0x80000034, little(at_size) + little(fixups.size()))}) +
      fixups;
  Result<SymbolTable> table = read_symbols(write("stripped.dylib", file));
  ASSERT_TRUE(table.has_value());
  EXPECT_TRUE(table->complete);
  std::vector<std::string> found;
  for (const Symbol& symbol : table->imports)
    found.push_back(symbol.name + " of " + symbol.library + (symbol.weak ? " weak" : ""));
  EXPECT_THAT(found, ElementsAre("_one of /one.dylib", "_maybe of /two.dylib weak", "_any of "));
  EXPECT_TRUE(read_binary(folder() / "stripped.dylib")->macho.chained_fixups);
}

TEST_F(Macho, ReadsReexportsOfAnExportTrieAndEndsItsLoops) {
  auto with_trie = [&](const std::string& trie) {
    const std::string one = dylib(0x8000001f, "/one.dylib");
    const std::size_t at_size = macho({one, command(0x80000033, std::string(8, '\0'))}).size();
    return read_symbols(
        write("trie.dylib", macho({one, command(0x80000033, little(at_size) + little(trie.size()))}) + trie));
  };
  // Root: an edge "_a" to offset 6. There: 3 bytes (re-export, library 1, the same name), no edges.
  Result<SymbolTable> table = with_trie(std::string("\0\1_a\0\6\3\x08\1\0\0", 11));
  ASSERT_TRUE(table.has_value());
  ASSERT_EQ(table->exports.size(), 1u);
  EXPECT_EQ(table->exports[0].name, "_a");
  EXPECT_EQ(table->exports[0].forwarder, "_a");
  EXPECT_EQ(table->exports[0].library, "/one.dylib");
  // An edge that leads back to the root.
  Result<SymbolTable> loop = with_trie(std::string("\0\1_a\0\0", 6));
  EXPECT_FALSE(loop.has_value());
  EXPECT_EQ(loop.error().code, "EH-F08");
}

TEST_F(Macho, APluginHeadIsReadFromTheChosenSlice) {
  if (!macos_tools_missing().empty()) GTEST_SKIP() << macos_tools_missing();
  std::vector<std::string> join{tool("llvm-lipo"), "-create", "-output", at("fat.dylib")};
  for (const auto& [arch, minor] : {std::pair{"x86_64", "3"}, {"arm64", "4"}}) {
    const std::string object = macos_object(
        "plugin", arch,
        "struct plugin { char magic[8]; unsigned size; unsigned short major, minor, host, reserved; "
        "unsigned flags; void* p; };\n"
        "void other(void) {}\nconst struct plugin engine_plugin_v1 = {\"ENGPLUG\", 40, 1, " +
            std::string(minor) + ", 2, 0, 1, other};\n");
    join.push_back(macos_library(std::string(arch) + ".dylib", arch, {"-dylib", object}).native());
  }
  run(join);
  for (const auto& [machine, minor] : {std::pair{"x86_64", 3}, {"aarch64", 4}}) {
    Result<PluginHeader> header = read_plugin_header(folder() / "fat.dylib", "engine_plugin_v1", machine);
    ASSERT_TRUE(header.has_value());
    EXPECT_EQ(header->state, PluginHeader::State::found);
    EXPECT_EQ(header->abi_minor, minor);
  }
  Result<PluginHeader> absent = read_plugin_header(folder() / "fat.dylib", "engine_plugin_v2");
  EXPECT_EQ(absent->state, PluginHeader::State::symbol_absent);
  EXPECT_THAT(absent->exports, UnorderedElementsAre("_other", "_engine_plugin_v1"));
}

TEST_F(Macho, DamageIsF08) {
  const std::string whole = macho({dylib(0xc, "/a")});
  auto problem = [&](std::string bytes) {
    Result<BinaryInfo> info = read_binary(write("x.dylib", bytes));
    return info->problems.empty() ? std::string() : std::string(info->problems.front().code_text());
  };
  EXPECT_EQ(problem(whole), "");
  std::string short_command = whole, long_command = whole, many = whole, name_outside = whole;
  short_command.replace(36, 4, little(4));
  long_command.replace(36, 4, little(4000));
  many.replace(16, 4, little(100000));
  name_outside.replace(40, 4, little(4000));
  for (const std::string& bytes : {short_command, long_command, many, name_outside})
    EXPECT_EQ(problem(bytes), "EH-F08");
}

}  // namespace
}  // namespace enginehost::binary
