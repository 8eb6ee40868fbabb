// Windows libraries, made by lld: the facts that are read, in every variant of the format.
#include <gmock/gmock.h>

#include "host/binary/binary.hpp"
#include "tests/binary/foreign_libraries.hpp"
#include "tests/binary/pe_bytes.hpp"

namespace enginehost::binary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* x64 = "x86_64-pc-windows-msvc";

class Pe : public ForeignWorkshop {
 protected:
  void SetUp() override {
    ForeignWorkshop::SetUp();
    const std::string missing = windows_tools_missing();
    if (!missing.empty()) GTEST_SKIP() << missing;
  }
  static std::vector<std::string> imports_of(const std::filesystem::path& file) {
    Result<SymbolTable> table = read_symbols(file);
    EXPECT_TRUE(table.has_value());
    std::vector<std::string> all;
    if (!table) return all;
    EXPECT_TRUE(table->complete);
    for (const Symbol& symbol : table->imports)
      all.push_back(std::string(symbol.delayed ? "delayed " : "") + symbol.library + "!" +
                    (symbol.name.empty() ? "#" + std::to_string(symbol.ordinal) : symbol.name));
    return all;
  }
};

TEST_F(Pe, ReadsMachineImportsAndDelayedImports) {
  for (const auto& [target, machine, name] :
       {std::tuple{x64, "x64", "x86_64"}, {"aarch64-pc-windows-msvc", "arm64", "aarch64"}}) {
    Result<BinaryInfo> info = read_binary(usual_windows_library(target, machine));
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
    EXPECT_EQ(info->needed_size, info->file_size);
    EXPECT_GT(info->memory_size, info->file_size);
    EXPECT_EQ(info->pe.subsystem, "windows");
    EXPECT_EQ(info->pe.linker_version, "14.0");
    EXPECT_THAT(imports_of(folder() / "engine.dll"), ElementsAre("first.dll!one", "delayed second.dll!two"));
  }
}

TEST_F(Pe, EveryTruncationIsF04) {
  const std::string bytes = bytes_of(usual_windows_library(x64, "x64"));
  for (std::size_t length = 64; length < bytes.size(); length += 61) {
    Result<BinaryInfo> cut = read_binary(write("cut.dll", bytes.substr(0, length)));
    ASSERT_FALSE(cut->problems.empty()) << length;
    EXPECT_EQ(cut->problems.front().code, "EH-F04") << length;
    EXPECT_GT(cut->needed_size, length);
  }
}

TEST_F(Pe, AProgramIsF10) {
  const std::string object = windows_object("program", x64, "int start(void) { return 0; }\n");
  run({tool("lld-link"), "/machine:x64", "/entry:start", "/subsystem:console", "/nodefaultlib",
       "/out:" + at("program.exe"), object});
  Result<BinaryInfo> info = read_binary(folder() / "program.exe");
  ASSERT_FALSE(info->problems.empty());
  EXPECT_EQ(info->problems.front().code, "EH-F10");
  EXPECT_EQ(info->problems.front().value(Key::type), "executable");
}

TEST_F(Pe, ExportsCarryOrdinalsAndForwarders) {
  const std::string object = windows_object("engine", x64,
                                            "int engine(void) { return 1; } int second(void) { return 2; }\n"
                                            "int third(void) { return 3; } const int data = 4;\n");
  const std::filesystem::path file =
      windows_library("engine.dll", "x64",
                      {object, "/export:engine,@7", "/export:second,@9,NONAME", "/export:alias=third",
                       "/export:data,DATA", "/export:heap=NTDLL.RtlAllocateHeap"});
  Result<SymbolTable> table = read_symbols(file);
  ASSERT_TRUE(table.has_value());
  std::vector<std::string> found;
  for (const Symbol& symbol : table->exports) {
    EXPECT_EQ(symbol.function, symbol.name != "data" && symbol.name != "heap") << symbol.name;
    found.push_back(std::to_string(symbol.ordinal) + " " + symbol.name + " " + symbol.forwarder);
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAre("7 engine ", "9  ", "10 alias ", "11 data ",
                                                     "12 heap NTDLL.RtlAllocateHeap"));
}

TEST_F(Pe, DistinguishesImportsByOrdinalFromThoseByName) {
  const std::string object =
      windows_object("engine", x64,
                     "__declspec(dllimport) int one(void); __declspec(dllimport) int two(void);\n"
                     "__declspec(dllexport) int engine(void) { return one() + two(); }\n");
  const std::string first = import_library("first.dll", "x64", "  one @5 NONAME\n  two @6\n");
  const std::filesystem::path file = windows_library("engine.dll", "x64", {object, first});
  EXPECT_THAT(imports_of(file), ::testing::UnorderedElementsAre("first.dll!#5", "first.dll!two"));
}

TEST_F(Pe, DelayedImportsOfOldCompilersHoldAddressesAndAreReadAlike) {
  usual_windows_library(x64, "x64");
  const std::filesystem::path file =
      windows_library("old.dll", "x64",
                      {at("engine.obj"), at("first.dll.lib"), at("second.dll.lib"), "/delayload:second.dll",
                       "/base:0x10000000"});
  PeBytes bytes(bytes_of(file));
  const std::size_t descriptor = bytes.offset_of(bytes.directory(13));
  // Clears dlattrRva, and makes every address of the descriptor and of its name table absolute.
  bytes.set32(descriptor, 0);
  const std::size_t names = bytes.offset_of(bytes.u32(descriptor + 16));
  for (std::size_t field = 4; field <= 24; field += 4)
    if (bytes.u32(descriptor + field) != 0)
      bytes.set32(descriptor + field, bytes.u32(descriptor + field) + 0x10000000);
  bytes.set32(names, bytes.u32(names) + 0x10000000);
  const std::filesystem::path old = write("old.dll", bytes.all());
  Result<BinaryInfo> info = read_binary(old);
  EXPECT_TRUE(info->problems.empty());
  EXPECT_THAT(info->delayed, ElementsAre("second.dll"));
  EXPECT_THAT(imports_of(old), ElementsAre("first.dll!one", "delayed second.dll!two"));
}

TEST_F(Pe, BoundImportsAreNotedAndDoNoHarm) {
  PeBytes bytes(bytes_of(usual_windows_library(x64, "x64")));
  bytes.set_directory(11, 0x200, 24);
  Result<BinaryInfo> info = read_binary(write("bound.dll", bytes.all()));
  EXPECT_TRUE(info->problems.empty());
  EXPECT_TRUE(info->pe.bound_imports);
  EXPECT_THAT(info->needed, ElementsAre("first.dll"));
}

TEST_F(Pe, ASignatureIsNotedAndItsBytesAreNeeded) {
  const std::string plain = bytes_of(usual_windows_library(x64, "x64"));
  PeBytes bytes(plain + std::string(300, 's'));
  bytes.set_directory(4, static_cast<std::uint32_t>(plain.size()), 300);
  Result<BinaryInfo> info = read_binary(write("signed.dll", bytes.all()));
  EXPECT_TRUE(info->problems.empty());
  EXPECT_TRUE(info->code_signed);
  EXPECT_EQ(info->needed_size, plain.size() + 300);
  Result<BinaryInfo> cut = read_binary(write("cut.dll", bytes.all().substr(0, plain.size() + 200)));
  EXPECT_EQ(cut->problems.front().code, "EH-F04");
}

TEST_F(Pe, ReportsFlagsOfTheHeader) {
  usual_windows_library(x64, "x64");
  const std::vector<std::string> inputs{at("engine.obj"), at("first.dll.lib"), at("second.dll.lib")};
  auto linked = [&](std::vector<std::string> more) {
    more.insert(more.begin(), inputs.begin(), inputs.end());
    return read_binary(windows_library("flags.dll", "x64", more))->pe;
  };
  const PeFacts strict =
      linked({"/appcontainer", "/integritycheck", "/highentropyva", "/nxcompat", "/dynamicbase"});
  EXPECT_TRUE(strict.app_container && strict.force_integrity && strict.high_entropy_addresses &&
              strict.no_execute && strict.dynamic_base);
  const PeFacts loose =
      linked({"/highentropyva:no", "/nxcompat:no", "/dynamicbase:no", "/allowisolation:no"});
  EXPECT_FALSE(loose.app_container || loose.force_integrity || loose.high_entropy_addresses ||
               loose.no_execute || loose.dynamic_base);
  EXPECT_TRUE(loose.no_isolation);
}

TEST_F(Pe, ThreadLocalVariablesAndLoadConfigurationAreRead) {
  const std::string declarations =
      "char first[40] = {1}, last;\n"
      "struct { void *begin, *end, *index, *callbacks; unsigned zeroes, flags; } _tls_used = "
      "{first, first + 40, &last, 0, 24, 0};\n"
      "struct { unsigned size; char a[74]; unsigned short flags; char b[120]; void* hybrid; char c[112]; } "
      "__attribute__((packed)) _load_config_used = {320, {0}, 0x800, {0}, HYBRID, {0}};\n"
      "__declspec(dllexport) int engine(void) { return 1; }\n";
  for (const auto& [hybrid, machine] : {std::pair{"0", "x86_64"}, {"first", "arm64ec"}}) {
    const std::string source = std::string("#define HYBRID ") + hybrid + "\n" + declarations;
    Result<BinaryInfo> info = read_binary(windows_library(
        "engine.dll", "x64",
        {windows_object("configured", x64, source), "/include:_tls_used", "/include:_load_config_used"}));
    EXPECT_TRUE(info->problems.empty());
    EXPECT_EQ(info->tls_size, 64u);
    EXPECT_EQ(info->pe.dependent_load_flags, 0x800);
    EXPECT_EQ(info->machine, machine);
  }
}

TEST_F(Pe, ReadsVersionAndSideBySideAssembliesOfResources) {
  if (tool("llvm-rc").empty()) GTEST_SKIP() << "llvm-rc is not installed";
  usual_windows_library(x64, "x64");
  write("engine.manifest",
        "<assembly xmlns=\"urn:schemas-microsoft-com:asm.v1\" manifestVersion=\"1.0\">\n"
        "<assemblyIdentity type=\"win32\" name=\"engine\" "
        "version=\"1.0.0.0\"/>\n<dependency><dependentAssembly>\n"
        "  <assemblyIdentity type='win32' name='Microsoft.VC90.CRT'\n   version='9.0.21022.8'/>\n"
        "</dependentAssembly></dependency></assembly>\n");
  write("engine.rc", "1 VERSIONINFO\nFILEVERSION 14,38,33135,2\nPRODUCTVERSION 3,2,1,0\nBEGIN\nEND\n2 24 \"" +
                         at("engine.manifest") + "\"\n");
  run({tool("llvm-rc"), "/fo", at("engine.res"), at("engine.rc")});
  const std::filesystem::path file =
      windows_library("resources.dll", "x64",
                      {at("engine.obj"), at("first.dll.lib"), at("second.dll.lib"), at("engine.res")});
  EXPECT_TRUE(read_binary(file)->pe.has_resources);
  Result<PeResources> resources = pe_resources(file);
  ASSERT_TRUE(resources.has_value());
  EXPECT_EQ(resources->file_version, "14.38.33135.2");
  EXPECT_EQ(resources->product_version, "3.2.1.0");
  EXPECT_TRUE(resources->has_manifest);
  EXPECT_THAT(resources->assemblies, ElementsAre("Microsoft.VC90.CRT 9.0.21022.8"));

  Result<PeResources> none = pe_resources(folder() / "engine.dll");
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->file_version, "");
  EXPECT_FALSE(none->has_manifest);
  EXPECT_FALSE(pe_resources(folder() / "absent.dll").has_value());
}

TEST_F(Pe, GPUCodeIsFoundInItsSection) {
  // A block with a header of 16 bytes, an entry with a header of 64 bytes (SASS for 8.9), and 8 bytes of
  // code.
  const std::string object = windows_object(
      "engine", x64,
      "__attribute__((section(\".nv_fatb\"), used)) const unsigned code[] = {0xBA55ED50, 0x00100001, 72, 0,\n"
      "  0x01010002, 64, 8, 0, 0, 0, 0, 89, 0, 0, 0, 0, 0, 0, 0, 0, 7, 7};\n"
      "__declspec(dllexport) int engine(void) { return 1; }\n");
  Result<GpuCode> code = gpu_code(windows_library("engine.dll", "x64", {object}));
  ASSERT_TRUE(code.has_value());
  ASSERT_EQ(code->entries.size(), 1u) << code->note;
  EXPECT_EQ(code->entries[0].kind + " " + code->entries[0].arch, "sass 8.9");
  EXPECT_EQ(code->note, "");
}

TEST_F(Pe, APluginHeadIsReadFromTheFile) {
  auto plugin = [&](const std::string& definition) {
    const std::string object =
        windows_object("plugin", x64,
                       "struct plugin { char magic[8]; unsigned size; unsigned short major, "
                       "minor, host, reserved; unsigned flags; void* p; };\n" +
                           definition);
    return *read_plugin_header(windows_library("plugin.dll", "x64", {object}));
  };
  using State = PluginHeader::State;
  const PluginHeader found = plugin(
      "__declspec(dllexport) const struct plugin engine_plugin_v1 = {\"ENGPLUG\", 40, 1, 3, 2, 0, 1, 0};\n");
  EXPECT_EQ(found.state, State::found);
  EXPECT_EQ(found.size, 40u);
  EXPECT_EQ(found.abi_minor, 3);
  EXPECT_EQ(found.host_minor, 2);
  EXPECT_EQ(plugin("__declspec(dllexport) struct plugin engine_plugin_v1;\n").state, State::no_bytes);
  const PluginHeader absent = plugin("__declspec(dllexport) int engine_create(void) { return 0; }\n");
  EXPECT_EQ(absent.state, State::symbol_absent);
  EXPECT_THAT(absent.exports, ElementsAre("engine_create"));
}

TEST_F(Pe, ADamagedImportTableIsF08AndWhatWasReadBeforeIsKept) {
  PeBytes bytes(bytes_of(usual_windows_library(x64, "x64")));
  const std::size_t table = bytes.offset_of(bytes.directory(1));
  bytes.set32(table + 12, 0x7fff0000);  // the name's address
  Result<BinaryInfo> info = read_binary(write("damaged.dll", bytes.all()));
  ASSERT_FALSE(info->problems.empty());
  EXPECT_EQ(info->problems.front().code, "EH-F08");
  EXPECT_THAT(info->needed, IsEmpty());
  EXPECT_THAT(info->delayed, ElementsAre("second.dll"));
}

// All imports have one long name, which is in the file once.
TEST_F(Pe, NamesWithoutEndAreF08AndAreNotKept) {
  PeBytes bytes(bytes_of(usual_windows_library(x64, "x64")));
  const std::uint32_t import = bytes.directory(1);
  const std::size_t table = bytes.offset_of(import);
  const std::uint32_t lookup = bytes.u32(table), addresses = bytes.u32(table + 16);
  constexpr std::uint32_t count = 1000, room = count * 20 + 20, length = 16000;
  std::string all = bytes.all();
  const std::size_t header = bytes.u32(60), sections = header + 24 +
                                                       static_cast<unsigned char>(all[header + 20]) +
                                                       256u * static_cast<unsigned char>(all[header + 21]);
  const std::size_t last = sections + 40u * (static_cast<unsigned char>(all[header + 6]) - 1u);
  // The last section grows by the table and the name.
  const std::uint32_t at = bytes.u32(last + 16), address = bytes.u32(last + 12) + at;
  all.resize(bytes.u32(last + 20) + at);
  PeBytes grown(all + std::string(room, '\0') + std::string(length, 'n') + '\0');
  grown.set32(last + 8, at + room + length + 1);
  grown.set32(last + 16, at + room + length + 1);
  grown.set_directory(1, address, room);
  for (std::uint32_t i = 0; i < count; ++i) {
    grown.set32(all.size() + i * 20, lookup);
    grown.set32(all.size() + i * 20 + 12, address + room);
    grown.set32(all.size() + i * 20 + 16, addresses);
  }
  Result<BinaryInfo> info = read_binary(write("many.dll", grown.all()));
  ASSERT_FALSE(info->problems.empty());
  EXPECT_EQ(info->problems.front().code, "EH-F08");
  EXPECT_GT(info->needed.size(), 100u);
  EXPECT_LT(info->needed.size(), 300u);
}

}  // namespace
}  // namespace enginehost::binary
