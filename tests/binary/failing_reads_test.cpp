// A disk that fails to read a part of a file: no reader reports that as damage or as absence.
#ifdef __linux__
#include "tests/support/posix/failing_reads.hpp"
#include "host/binary/binary.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::binary {
namespace {

class FailingReads : public test::Workshop {};

template <class Made, class Sound>
std::string said_of(const char* reader, const Result<Made>& made, const Sound& is_sound) {
  if (made) return is_sound(*made) ? "" : std::string(reader) + " found less; ";
  const bool reported = made.error().code == "EH-F01" && made.error().value(Key::errno_) == "EIO";
  return reported ? "" : std::string(reader) + ": " + std::string(made.error().code_text()) + "; ";
}

// Wherever the failing part begins, each reader finds everything or reports that it could not read.
TEST_F(FailingReads, AreNeitherDamageNorAbsence) {
  const std::filesystem::path file = library(
      "libx.so",
      "__asm__(\".section .nv_fatbin,\\\"a\\\"\\n.balign 8\\n.long 0xba55ed50\\n.short 1, 16\\n.quad "
      "72\\n\"\n"
      "\".short 2, 0x101\\n.long 64\\n.quad 8\\n.quad 0\\n.long 0, 90\\n.zero 40\\n.text\");\n"
      "extern int elsewhere(void);\n"
      "const char many[50000] = {1};\n"
      "const char* names[] = {\"libpart_one.so.9\", many};\n"
      "const struct { char magic[8]; unsigned size; short numbers[4]; unsigned flags; } engine_plugin_v1 =\n"
      "  {\"ENGPLUG\", 24, {1, 0, 0, 0}, 0};\n"
      "int f(void) { return elsewhere(); }\n",
      {"-Wl,--allow-shlib-undefined"});
  const auto said = [&] {
    return said_of("read_binary", read_binary(file), [](const auto& info) { return info.problems.empty(); }) +
           said_of("read_symbols", read_symbols(file),
                   [](const auto& table) { return table.complete && table.exports.size() >= 4; }) +
           // It returns nothing for an intact file, so another reader shows whether the file could be read.
           said_of("check_bindings", check_bindings(file).map([] { return true; }),
                   [&](bool) { return read_binary(file).has_value(); }) +
           said_of("gpu_code", gpu_code(file),
                   [](const auto& code) { return code.entries.size() == 1 && code.note.empty(); }) +
           said_of("library_names", library_names(file, "libpart_"),
                   [](const auto& names) { return names.size() == 1; }) +
           said_of("read_plugin_header", read_plugin_header(file),
                   [](const auto& header) { return header.state == PluginHeader::State::found; });
  };
  ASSERT_EQ(said(), "") << "of the file as it is";
  const auto size = static_cast<std::uint32_t>(std::filesystem::file_size(file));
  for (std::uint32_t from = 0; from < size; from += 512) {
    const auto reported = test::where_reads_fail_from(from, said);
    if (!reported) GTEST_SKIP() << "no system call can be made to fail here";
    EXPECT_EQ(*reported, "") << "from " << from << " of " << size;
  }
}

}  // namespace
}  // namespace enginehost::binary
#endif
