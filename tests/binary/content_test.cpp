// The problems that read_binary reports for files that are no healthy library (classes F01 to F13, L07, L25
// of the failure catalog).
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/binary/binary.hpp"
#include "tests/support/stand_in.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

using ::testing::HasSubstr;

class Content : public test::Workshop {
 protected:
  static std::string first_code(const std::filesystem::path& file) {
    Result<BinaryInfo> info = read_binary(file);
    if (!info) return std::string(info.error().code_text());
    return info->problems.empty() ? "" : std::string(info->problems.front().code_text());
  }
  std::filesystem::path healthy() const {
    return library("libhealthy.so", "int answer(void) { return 42; }\n");
  }
  // A healthy library with some bytes replaced.
  std::filesystem::path patched(std::size_t at, const std::string& with) const {
    std::string bytes = bytes_of(healthy());
    bytes.replace(at, with.size(), with);
    return write("libpatched.so", bytes);
  }
};

// Three words and two texts; any other value is not EngineHost's mark.
TEST_F(Content, OnlyEngineHostsNoteMarksAStandIn) {
  const auto with_note = [&](int type, const std::string& name, const std::string& text) {
    const std::string words =
        std::to_string(name.size() + 1) + "," + std::to_string(text.size() + 1) + "," + std::to_string(type);
    const auto info = read_binary(
        library("libmarked.so",
                "__attribute__((section(\".note.x\"), used, aligned(4))) static const struct { unsigned "
                "words[3]; char name[" +
                    std::to_string((name.size() + 4) / 4 * 4) + "], text[16]; } mark = {{" + words + "}, \"" +
                    name + "\", \"" + text + "\"};\n"));
    EXPECT_TRUE(info && info->problems.empty());
    return info && info->stand_in;
  };
  EXPECT_TRUE(with_note(1, "EngineHost", "stand-in"));
  EXPECT_FALSE(with_note(2, "EngineHost", "stand-in"));
  EXPECT_FALSE(with_note(1, "EngineHosts", "stand-in"));
  EXPECT_FALSE(with_note(1, "Enginehost", "stand-in"));
  EXPECT_FALSE(with_note(1, "EngineHost", "stand-ins"));
  EXPECT_FALSE(with_note(1, "EngineHost", "stand"));
  EXPECT_TRUE(
      read_binary(library("libstand.so", "int f(void) { return 0; }\n", test::stand_in_named("libstand.so")))
          ->stand_in);
  EXPECT_FALSE(read_binary(healthy())->stand_in);
}

TEST_F(Content, AHealthyLibraryHasNoProblem) {
  Result<BinaryInfo> info =
      read_binary(library("libhealthy.so.1", "int answer(void) { return 42; }\n",
                          {"-Wl,-soname,libhealthy.so.1", "-Wl,-rpath,$ORIGIN:/opt/x:"}));
  ASSERT_TRUE(info.has_value());
  EXPECT_TRUE(info->problems.empty())
      << info->problems.front().code << info->problems.front().value(Key::problem);
  EXPECT_EQ(info->kind, Kind::elf);
  EXPECT_EQ(info->type, Type::shared_library);
  EXPECT_EQ(info->soname, "libhealthy.so.1");
  EXPECT_EQ(info->bits, 64);
  EXPECT_THAT(info->runpath.empty() ? info->rpath : info->runpath,
              ::testing::ElementsAre("$ORIGIN", "/opt/x", ""));
  EXPECT_FALSE(info->build_id.empty());
  EXPECT_FALSE(info->executable_stack);
  EXPECT_LE(info->needed_size, info->file_size);
}

TEST_F(Content, AMissingFileNamesTheFirstMissingComponent) {
  Result<BinaryInfo> info = read_binary(folder() / "no" / "such.so");
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().code, "EH-F01");
  EXPECT_EQ(info.error().value(Key::first_missing), (folder() / "no").native());
}

TEST_F(Content, AnEmptyFileIsF02) { EXPECT_EQ(first_code(write("x.so", "")), "EH-F02"); }

TEST_F(Content, FewerBytesThanAHeaderIsF03) {
  EXPECT_EQ(first_code(write("x.so", bytes_of(healthy()).substr(0, 40))), "EH-F03");
  EXPECT_EQ(first_code(write("y.so", std::string(10, '\x01'))), "EH-F03");
}

TEST_F(Content, EveryTruncationIsF04WithBothSizes) {
  const std::string bytes = bytes_of(healthy());
  Result<BinaryInfo> whole = read_binary(folder() / "libhealthy.so");
  ASSERT_TRUE(whole.has_value());
  for (std::size_t length : {std::size_t{64}, std::size_t{600}, std::size_t{4096},
                             static_cast<std::size_t>(whole->needed_size) - 1}) {
    Result<BinaryInfo> info = read_binary(write("cut.so", bytes.substr(0, length)));
    ASSERT_TRUE(info.has_value());
    ASSERT_FALSE(info->problems.empty()) << length;
    EXPECT_EQ(info->problems.front().code, "EH-F04") << length;
    EXPECT_EQ(info->problems.front().value(Key::size), std::to_string(length));
    EXPECT_GT(info->needed_size, length);
  }
}

TEST_F(Content, AFileCutBehindItsLastSegmentStillLoadsAndHasNoProblem) {
  const std::string bytes = bytes_of(healthy());
  Result<BinaryInfo> whole = read_binary(folder() / "libhealthy.so");
  ASSERT_LT(whole->needed_size, bytes.size());
  EXPECT_EQ(first_code(write("cut.so", bytes.substr(0, static_cast<std::size_t>(whole->needed_size)))), "");
}

TEST_F(Content, AWebPageIsF05WithItsTitle) {
  Result<BinaryInfo> info = read_binary(write(
      "x.so",
      "\r\n<!DOCTYPE html>\n<html><head><TITLE>\n Sign in to\n Hotel &amp; Spa </TITLE></head></html>"));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->sniffed, "HTML page");
  EXPECT_EQ(info->page_title, "Sign in to Hotel & Spa");
  EXPECT_EQ(info->problems.front().code, "EH-F05");
  EXPECT_EQ(info->problems.front().value(Key::page_title), "Sign in to Hotel & Spa");
  EXPECT_EQ(first_code(write("y.so", R"({"message": "Not Found"})")), "EH-F05");
  EXPECT_EQ(first_code(write("z.so", "404 page not found\n")), "EH-F05");
}

// Archives, copies and git without links leave the target's name as text.
TEST_F(Content, ALinkThatBecameTextIsF05WithItsTarget) {
  for (const char* target : {"libcudart.so.12.4.127", "../lib64/libx.so", "libx.dylib", "x64/a.dll"}) {
    const Result<BinaryInfo> info = read_binary(write("x.so", target));
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->problems.front().code, "EH-F05");
    EXPECT_EQ(info->problems.front().value(Key::link_target), target);
  }
  for (const char* text :
       {"see libx.so", "libx.so\nliby.so\n", "404 page not found", "libx", "{\"a\":\"x.so\"}"})
    EXPECT_EQ(read_binary(write("y.so", text))->problems.front().value(Key::link_target), "") << text;
}

// UTF-16, as servers on Windows send it.
TEST_F(Content, AWebPageInUtf16IsF05WithItsTitle) {
  const std::u16string page = u"<!DOCTYPE html><html><head><title>Anmeldung für Gäste</title></head></html>";
  for (const bool little : {true, false})
    for (const bool marked : {true, false}) {
      std::string bytes = !marked ? "" : little ? "\xff\xfe" : "\xfe\xff";
      for (const char16_t unit : page) {
        const char low = static_cast<char>(unit & 0xff), high = static_cast<char>(unit >> 8);
        bytes += little ? std::string{low, high} : std::string{high, low};
      }
      Result<BinaryInfo> info = read_binary(write("x.so", bytes));
      ASSERT_TRUE(info.has_value());
      EXPECT_EQ(info->sniffed, "HTML page");
      EXPECT_EQ(info->page_title, "Anmeldung für Gäste");
      EXPECT_EQ(first_code(folder() / "x.so"), "EH-F05");
    }
  EXPECT_EQ(first_code(write("y.so", std::string("{\0\"\0a\0\"\0", 8))), "EH-F05");
  EXPECT_EQ(first_code(write("z.so", "\xff\xfe" + std::string(100, '\x01'))), "EH-F08");
}

TEST_F(Content, TheFirstBytesOfALibraryAreF03WithoutText) {
  for (const char* start : {"\x7f",
                            "\x7f"
                            "E",
                            "\x7f"
                            "EL"})
    EXPECT_EQ(first_code(write("x.so", start)), "EH-F03");
}

TEST_F(Content, ArchivesThatWereNotUnpackedAreF06) {
  const std::pair<std::string, std::string> formats[] = {
      {"\x1f\x8b\x08", "gzip archive"},
      {"PK\x03\x04", "zip archive"},
      {std::string("\xfd"
                   "7zXZ\0",
                   6),
       "xz archive"},
      {"\x28\xb5\x2f\xfd", "zstd archive"},
      {"BZh9", "bzip2 archive"},
  };
  for (const auto& [magic, name] : formats) {
    Result<BinaryInfo> info = read_binary(write("x.so", magic + std::string(200, '\x01')));
    EXPECT_EQ(info->sniffed, name);
    EXPECT_EQ(info->problems.front().code, "EH-F06");
  }
}

TEST_F(Content, AGitLfsPointerIsF07WithItsTarget) {
  Result<BinaryInfo> info = read_binary(
      write("x.so", "version https://git-lfs.github.com/spec/v1\noid sha256:abc123\nsize 98765\n"));
  EXPECT_EQ(info->problems.front().code, "EH-F07");
  EXPECT_EQ(info->problems.front().value(Key::oid), "abc123");
  EXPECT_EQ(info->problems.front().value(Key::expected_size), "98765");
}

TEST_F(Content, DataOfNoKnownFormatIsF08) {
  EXPECT_EQ(first_code(write("x.so", std::string(1000, '\x02'))), "EH-F08");
}

TEST_F(Content, ANameOutsideTheStringTableIsF08) {
  // The string table's size (DT_STRSZ) becomes 1: every name lies outside.
  std::string bytes = bytes_of(library("libnamed.so", "int x;\n", {"-Wl,-soname,libnamed.so"}));
  const std::string tag{"\x0a\0\0\0\0\0\0\0", 8};
  const std::size_t at = bytes.find(tag, 64);
  ASSERT_NE(at, std::string::npos);
  std::string found;
  for (std::size_t i = bytes.find(tag, 64); i != std::string::npos; i = bytes.find(tag, i + 8)) {
    if (i % 8 != 0) continue;
    std::string copy = bytes;
    copy.replace(i + 8, 8, std::string("\x01\0\0\0\0\0\0\0", 8));
    found += first_code(write("x.so", copy)) + " ";
  }
  EXPECT_THAT(found, HasSubstr("EH-F08"));
}

// Each name is in the string table once and is referenced often.
// A library whose SONAME is so long that a few references are more text than is kept.
class ManyNames : public Content {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    const std::string longest(60000, 'n');
    bytes_ = bytes_of(library("libmany.so", "const char room[16384] = \"here is the room\";\n",
                              {"-Wl,-soname," + longest}));
    for (std::size_t at = number(32), i = number(54, 2) * number(56, 2), end = at + i; at < end; at += 56) {
      if (number(at, 4) == 2) dynamic_ = at;  // PT_DYNAMIC
      const std::uint64_t from = number(at + 8), size = number(at + 32),
                          room = bytes_.find("here is the room");
      if (number(at, 4) == 1 && room >= from && room < from + size) {
        room_ = room;
        room_address_ = room - from + number(at + 16);
      }
    }
    for (std::size_t at = number(dynamic_ + 8); number(at) != 0; at += 16)
      if (number(at) == 14) soname_ = number(at + 8);
  }

  std::uint64_t number(std::size_t at, std::size_t size = 8) const {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_.at(at + i));
    return value;
  }
  static std::string put(std::initializer_list<std::pair<std::uint64_t, int>> values) {
    std::string bytes;
    for (const auto& [value, size] : values)
      for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i);
    return bytes;
  }
  static std::string entry(std::uint64_t tag, std::uint64_t value) { return put({{tag, 8}, {value, 8}}); }

  // The library with `in_room` in its data and a dynamic section behind the file: its own entries, and these.
  std::filesystem::path with(const std::string& more, const std::string& in_room = {}) const {
    std::string bytes = bytes_, entries;
    bytes.replace(room_, in_room.size(), in_room);
    for (std::size_t at = number(dynamic_ + 8); number(at) != 0; at += 16) entries += bytes_.substr(at, 16);
    entries += more + entry(0, 0);
    bytes.replace(dynamic_ + 8, 8, put({{bytes.size(), 8}}))
        .replace(dynamic_ + 32, 8, put({{entries.size(), 8}}));
    return write("x.so", bytes + entries);
  }
  void expect_reported(const BinaryInfo& info) const {
    ASSERT_EQ(info.problems.size(), 1u);
    EXPECT_EQ(info.problems[0].code, "EH-F08");
    EXPECT_THAT(std::string(info.problems[0].value(Key::problem)), HasSubstr("4 MiB"));
  }

  std::string bytes_;
  std::size_t dynamic_ = 0, room_ = 0;
  std::uint64_t room_address_ = 0, soname_ = 0;
  static constexpr std::uint64_t versions_ = 300;
};

TEST_F(ManyNames, WithoutEndAreF08AndAreNotKept) {
  EXPECT_TRUE(read_binary(with(""))->problems.empty());
  std::string needs;
  for (int i = 0; i < 1000; ++i) needs += entry(1, soname_);
  const Result<BinaryInfo> info = read_binary(with(needs));
  expect_reported(*info);
  EXPECT_LT(info->needed.size(), 100u);
}

TEST_F(ManyNames, OfNeededVersionsWithoutEndAreF08AndAreNotKept) {
  // One library with many versions, numbered from 2 on.
  std::string chain = put({{1, 2}, {versions_, 2}, {soname_, 4}, {16, 4}, {0, 4}});
  for (std::uint64_t i = 0; i < versions_; ++i)
    chain += put({{0, 4}, {0, 2}, {i + 2, 2}, {soname_, 4}, {i + 1 < versions_ ? 16u : 0u, 4}});
  const std::uint64_t numbers = room_address_ + chain.size();
  const auto file = [&](std::uint64_t of_each_symbol) {
    std::string room = chain;
    for (int i = 0; i < 100; ++i) room += put({{of_each_symbol, 2}});
    return with(entry(0x6ffffffe, room_address_) + entry(0x6ffffff0, numbers), room);
  };
  const Result<BinaryInfo> info = read_binary(file(2));
  expect_reported(*info);
  EXPECT_LT(info->version_needs.size(), 100u);
  const Result<SymbolTable> first = read_symbols(file(2)), last = read_symbols(file(versions_ + 1));
  ASSERT_FALSE(first->exports.empty());
  EXPECT_EQ(first->exports[0].version.size(), 60000u);
  EXPECT_EQ(last->exports.at(0).version, "");
}

TEST_F(ManyNames, OfDefinedVersionsWithoutEndAreF08AndAreNotKept) {
  std::string chain;
  for (std::uint64_t i = 0; i < versions_; ++i)
    chain += put({{1, 2},
                  {0, 2},
                  {i + 2, 2},
                  {1, 2},
                  {0, 4},
                  {20, 4},
                  {i + 1 < versions_ ? 28u : 0u, 4},
                  {soname_, 4},
                  {0, 4}});
  const Result<BinaryInfo> info = read_binary(with(entry(0x6ffffffc, room_address_), chain));
  expect_reported(*info);
  EXPECT_LT(info->version_definitions.size(), 100u);
}

TEST_F(Content, ArchivesObjectsAndProgramsAreF10) {
  write("a.c", "int x; int main(void) { return x; }\n");
  const std::string source = (folder() / "a.c").native();
  run({"gcc", "-c", "-o", (folder() / "a.o").native(), source});
  run({"ar", "rc", (folder() / "a.a").native(), (folder() / "a.o").native()});
  run({"gcc", "-pie", "-fPIE", "-o", (folder() / "pie").native(), source});
  run({"gcc", "-no-pie", "-o", (folder() / "exe").native(), source});
  for (const char* name : {"a.o", "a.a", "pie", "exe"})
    EXPECT_EQ(first_code(folder() / name), "EH-F10") << name;
  Result<BinaryInfo> info = read_binary(folder() / "pie");
  EXPECT_EQ(info->problems.front().value(Key::type), "position-independent executable");
  EXPECT_EQ(read_binary(folder() / "a.a")->sniffed, "static archive (ar)");
  EXPECT_EQ(first_code(write("libc.so", "/* GNU ld script */\nGROUP ( /lib/libc.so.6 )\n")), "EH-F10");
}

TEST_F(Content, FoldersLoopsAndDanglingLinksAreF11AndNameTheLink) {
  EXPECT_EQ(first_code(folder()), "EH-F11");
  std::filesystem::create_symlink("gone.so", folder() / "dangling.so");
  Result<BinaryInfo> info = read_binary(folder() / "dangling.so");
  EXPECT_EQ(info.error().code, "EH-F11");
  EXPECT_EQ(info.error().value(Key::problem), "dangling link");
  EXPECT_EQ(info.error().value(Key::link), (folder() / "dangling.so").native());
  EXPECT_EQ(info.error().value(Key::target), "gone.so");
  std::filesystem::create_symlink("loop.so", folder() / "loop.so");
  Result<BinaryInfo> loop = read_binary(folder() / "loop.so");
  EXPECT_EQ(loop.error().code, "EH-F11");
  EXPECT_EQ(loop.error().value(Key::problem), "link loop");
  ASSERT_EQ(::mkfifo((folder() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(first_code(folder() / "pipe"), "EH-F11");
  // Opening it fails already: ENXIO.
  ASSERT_EQ(::mknod((folder() / "socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(first_code(folder() / "socket"), "EH-F11");
}

TEST_F(Content, UnmappableSegmentsAreF12) {
  // Program headers of x86-64 begin at byte 64, 56 bytes each: type, flags, offset, address, ...
  const std::string bytes = bytes_of(healthy());
  std::string without_dynamic = bytes, without_load = bytes, misaligned = bytes;
  for (std::size_t at = 64; at + 56 <= 64 + 56 * static_cast<std::size_t>(bytes[56]); at += 56) {
    const char type = bytes[at];
    if (bytes.compare(at + 1, 3, std::string(3, '\0')) != 0) continue;
    if (type == 2) without_dynamic[at] = 0;
    if (type == 1) {
      without_load[at] = 0;
      misaligned[at + 8] = static_cast<char>(misaligned[at + 8] + 1);
    }
  }
  auto problems = [&](const std::string& content) {
    std::string all;
    Result<BinaryInfo> info = read_binary(write("x.so", content));
    for (const Diagnosis& problem : info->problems)
      all += std::string(problem.code_text()) + " " + std::string(problem.value(Key::problem)) + "; ";
    return all;
  };
  EXPECT_THAT(problems(without_dynamic), HasSubstr("EH-F12 no PT_DYNAMIC"));
  EXPECT_THAT(problems(without_load), HasSubstr("EH-F12 no PT_LOAD"));
  EXPECT_THAT(problems(misaligned), HasSubstr("EH-F12 misaligned"));
}

TEST_F(Content, NeedsBeyondTheLimitAreReported) {
  // Space for more entries in the dynamic section, each of which becomes a need of the same library.
  constexpr std::size_t spare = 5000;
  library("libdep.so", "int d;\n", {"-nostdlib", "-Wl,-soname,libdep.so"});
  const auto file = library("libneeds.so", "int x;\n",
                            {"-nostdlib", "-Wl,--no-as-needed", (folder() / "libdep.so").native(),
                             "-Wl,--spare-dynamic-tags=" + std::to_string(spare)});
  EXPECT_EQ(first_code(file), "");
  std::string bytes = bytes_of(file);
  const std::string nothing(spare * 16, '\0');
  const std::size_t gap = bytes.find(nothing);
  ASSERT_NE(gap, std::string::npos);
  std::size_t end = gap;
  while (end % 16 != 0) ++end;
  // The first entry is the need (DT_NEEDED, 1) and the name's place; the last one left ends the list.
  const std::size_t need = bytes.rfind(std::string("\x01\0\0\0\0\0\0\0", 8), gap);
  ASSERT_NE(need, std::string::npos);
  std::string entry;
  for (std::size_t at = 64; at + 16 <= bytes.size(); at += 8)
    if (bytes.compare(at, 8, std::string("\x01\0\0\0\0\0\0\0", 8)) == 0 && at < gap && gap - at < 1024) {
      entry = bytes.substr(at, 16);
      break;
    }
  ASSERT_FALSE(entry.empty());
  for (std::size_t i = 0; i + 2 < spare; ++i) bytes.replace(end + i * 16, 16, entry);
  const Result<BinaryInfo> info = read_binary(write("libmany.so", bytes));
  ASSERT_TRUE(info.has_value());
  ASSERT_FALSE(info->problems.empty());
  EXPECT_EQ(info->problems.front().code, "EH-F08");
  EXPECT_THAT(std::string(info->problems.front().value(Key::problem)), HasSubstr("more than 4096 libraries"));
}

TEST_F(Content, ALibraryThatRefusesDlopenIsF13) {
  EXPECT_EQ(first_code(library("x.so", "int x;\n", {"-Wl,-z,nodlopen"})), "EH-F13");
}

TEST_F(Content, ForeignELFVarietiesAreL07) {
  EXPECT_EQ(first_code(patched(7, "\x09")), "EH-L07");  // FreeBSD
  Result<BinaryInfo> info = read_binary(folder() / "libpatched.so");
  EXPECT_EQ(info->problems.front().value(Key::os_abi), "FreeBSD");
  EXPECT_EQ(first_code(patched(6, "\x02")), "EH-L07");  // version
  EXPECT_EQ(first_code(patched(5, "\x03")), "EH-L07");  // byte order
}

TEST_F(Content, AClosedFolderIsL25AndNamed) {
  if (::geteuid() == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot give up the superuser's rights";
  // The file belongs to another user here; otherwise to this one, with the folder closed.
  ::seteuid(0);
  write("closed/x.so", "x");
  std::filesystem::permissions(folder(), std::filesystem::perms::all);
  std::filesystem::permissions(folder() / "closed", std::filesystem::perms::none);
  if (::geteuid() == 0) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  Result<BinaryInfo> info = read_binary(folder() / "closed" / "x.so");
  ::seteuid(0);
  std::filesystem::permissions(folder() / "closed", std::filesystem::perms::all);
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().code, "EH-L25");
  EXPECT_EQ(info.error().value(Key::blocked_by), (folder() / "closed").native());
  EXPECT_EQ(info.error().value(Key::mode), "0000");
}

TEST_F(Content, ReportsWhatALoaderMayRefuse) {
  Result<BinaryInfo> info =
      read_binary(library("x.so",
                          "__thread char block[65536] __attribute__((tls_model(\"initial-exec\"))); char* "
                          "f(void) { return block; }\n",
                          {"-Wl,-z,execstack"}));
  EXPECT_EQ(info->tls_size, 65536u);
  // binutils 2.40 sets DF_STATIC_TLS for x86 and omits it for arm64, where the relocation shows it.
  EXPECT_TRUE(info->static_tls);
  EXPECT_TRUE(info->executable_stack);
  info = read_binary(library("z.so", "int x;\n", {"-Wl,-z,nodefaultlib"}));
  EXPECT_TRUE(info->no_default_directories);
}

TEST_F(Content, TextRelocationsAreReportedByEitherMark) {
#if !defined(__x86_64__)
  GTEST_SKIP() << "the library is written in x86-64 assembler";
#endif
  const std::string bytes = bytes_of(
      library("x.so", "int value;\n__asm__(\".text\\nchanged: .quad value\\n\");\n", {"-Wl,-z,notext"}));
  // The linker writes both DT_TEXTREL and DF_TEXTREL in DT_FLAGS; each alone is enough.
  const std::string tag("\x16\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16),
      flag("\x1e\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0", 16);
  const std::string nothing("\x15\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);  // DT_DEBUG
  const auto without = [&](std::initializer_list<std::string> marks) {
    std::string changed = bytes;
    for (const std::string& mark : marks) {
      const std::size_t at = changed.find(mark);
      EXPECT_NE(at, std::string::npos);
      if (at != std::string::npos) changed.replace(at, 16, nothing);
    }
    return write("changed.so", changed);
  };
  EXPECT_TRUE(read_binary(without({tag}))->text_relocations);
  EXPECT_TRUE(read_binary(without({flag}))->text_relocations);
  EXPECT_FALSE(read_binary(without({tag, flag}))->text_relocations);
}

TEST_F(Content, ReportsTheNeededX86Level) {
#if defined(__x86_64__)
  const Result<BinaryInfo> info = read_binary(library("y.so", "int x;\n", {"-Wl,-z,x86-64-v3"}));
  EXPECT_EQ(info->isa_needed & 4u, 4u);
#else
  GTEST_SKIP() << "this compiler makes no x86-64 code";
#endif
}

}  // namespace
}  // namespace enginehost::binary
