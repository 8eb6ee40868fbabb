// Damage in tables that a loader follows without checks: it crashes on one day and not on another.
#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <optional>

#include "base/files.hpp"
#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::HasSubstr;

class Tables : public ::testing::Test {
 protected:
  void SetUp() override {
    file_ = workshop_.library("libtables.so",
                              "#include <math.h>\n#include <stdio.h>\nvoid* table[] = {printf};"
                              "double f(double x){return sin(x);}",
                              "-lm -Wl,--no-as-needed -Wl,-z,now");
    bytes_ = *read_file(file_);
  }
  // The file offset of the section of that type.
  std::uint64_t begin_of(std::uint32_t type) const {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes_.data(), sizeof header);
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, bytes_.data() + header.e_shoff + i * sizeof section, sizeof section);
      if (section.sh_type == type && (section.sh_flags & SHF_ALLOC) != 0) return section.sh_offset;
    }
    ADD_FAILURE() << "no section of type " << type;
    return 0;
  }
  void put(std::uint64_t offset, const std::string& bytes) {
    bytes_.replace(offset, bytes.size(), bytes);
    std::ofstream(file_, std::ios::binary) << bytes_;
  }
  void expect_damaged(const std::string& problem) {
    const Report report = check(alone(file_));
    ASSERT_EQ(first_code(report), "EH-F08");
    EXPECT_EQ(report.verdict, Verdict::fails);
    EXPECT_EQ(report.diagnoses.front().value(Key::file), file_.native());
    EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr(problem));
  }
  faults::Workshop workshop_;
  std::filesystem::path file_;
  std::string bytes_;
};

TEST_F(Tables, ValidOnesHaveNoProblem) { EXPECT_EQ(check(alone(file_)).verdict, Verdict::loads); }

TEST_F(Tables, AVersionThatTheFileDoesNotNameIsF08) {
  put(begin_of(SHT_GNU_versym) + 2, std::string("\x31\x00", 2));
  expect_damaged("a version that the file does not name");
}

TEST_F(Tables, ARelocationOfASymbolThatIsNotListedIsF08) {
  // The last entry of the first table: relative ones, which need no symbol, come first.
  const std::uint64_t relocations = begin_of(SHT_RELA);
  put(relocations + offsetof(Elf64_Rela, r_info) + 4, std::string("\x00\x00\x02\x00", 4));
  expect_damaged("a symbol that the file does not list");
}

TEST_F(Tables, ARelocationThatWritesElsewhereIsF08) {
  put(begin_of(SHT_RELA) + 3, "\x7f");
  expect_damaged("writes outside");
}

TEST_F(Tables, VersionsOfALibraryThatNobodyNeedsAreF08) {
  // The first entry of .dynamic is the need of libm; with another tag its versions have no library.
  const std::uint64_t dynamic = begin_of(SHT_DYNAMIC);
  Elf64_Dyn first;
  std::memcpy(&first, bytes_.data() + dynamic, sizeof first);
  ASSERT_EQ(first.d_tag, DT_NEEDED);
  put(dynamic + 6, "\x46");
  expect_damaged("it asks for versions of libm.so.6, which it does not need");
}

TEST_F(Tables, TheChainOfVersionsCountsNotTheirNumber) {
  // vn_cnt of the first library becomes 0. The loader still reads them all.
  put(begin_of(SHT_GNU_verneed) + offsetof(Elf64_Verneed, vn_cnt), std::string("\x00\x00", 2));
  const auto info = binary::read_binary(file_);
  ASSERT_TRUE(info);
  EXPECT_FALSE(info->version_needs.empty());
  EXPECT_EQ(check(alone(file_)).verdict, Verdict::loads);
}

}  // namespace
}  // namespace enginehost::preflight
