// Arrays that cannot be read, each with what makes it one that can.
#include "host/commands/npy.hpp"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.hpp"

namespace enginehost::commands {
namespace {

using testing::HasSubstr;

class Npy : public testing::Test {
 protected:
  Result<Array> read(const std::string& bytes) const {
    test::write_text(folder_ / "x.npy", bytes);
    return read_npy(folder_ / "x.npy");
  }
  static std::string array(const std::string& type, const std::string& content, char major = 1,
                           char minor = 0) {
    std::string header = "{'descr': " + type + ", 'fortran_order': False, 'shape': (2,), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes = std::string("\x93NUMPY") + major + minor + static_cast<char>(header.size()) + '\0';
    if (major > 1) bytes += std::string(2, '\0');
    return bytes + header + content;
  }
  void expect_refused(const std::string& bytes, const std::string& problem, const std::string& remedy) const {
    const auto read = this->read(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "EH-P30");
    EXPECT_THAT(std::string(read.error().value("problem")), HasSubstr(problem));
    EXPECT_THAT(std::string(read.error().value("remedy")), HasSubstr(remedy));
  }
  test::TemporaryFolder folder_;
};

TEST_F(Npy, EveryKnownFormatIsRead) {
  for (const char major : {'\x01', '\x02', '\x03'})
    EXPECT_TRUE(read(array("'<f4'", std::string(8, 'a'), major)));
}

TEST_F(Npy, AnUnknownFormatIsNotGuessed) {
  expect_refused(array("'<f4'", std::string(8, 'a'), 4), "4.0", "numpy.save");
  expect_refused(array("'<f4'", std::string(8, 'a'), 0, 9), "0.9", "numpy.save");
  expect_refused(array("'<f4'", std::string(8, 'a'), 1, 1), "1.1", "numpy.save");
}

TEST_F(Npy, ARemedyIsForTheProblemAtHand) {
  expect_refused(array("'>f4'", std::string(8, 'a')), "'>f4'", "newbyteorder('<')");
  expect_refused(array("'|O'", std::string(8, 'a')), "'|O'", "objects");
  expect_refused(array("'<M8[ns]'", std::string(16, 'a')), "'<M8[ns]'", "astype");
  expect_refused(array("[('x', '<f4')]", std::string(8, 'a')), "[('x', '<f4')]", "each field");
  expect_refused(array("'<f4'", "abc"), "3 follow the header", "copy it again");
  expect_refused(array("'<f4'", "").substr(0, 40), "cut off", "copy it again");
  expect_refused(array("'<f4'", "").substr(0, 7), "cut off", "copy it again");
  expect_refused(std::string("PK\x03\x04", 4) + std::string(40, 'a'), ".npz", "numpy.load");
  expect_refused("hello, I am a text", "does not begin", "numpy.save");
}

}  // namespace
}  // namespace enginehost::commands
