// Array files: valid ones are read, and each error has its own remedy.
#include "host/commands/npy.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <numeric>
#include <vector>

#include "host/load/in_process/model.hpp"
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
                           char minor = 0, const std::string& rest = "False, 'shape': (2,)") {
    std::string header = "{'descr': " + type + ", 'fortran_order': " + rest + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes = std::string("\x93NUMPY") + major + minor + static_cast<char>(header.size()) + '\0';
    if (major > 1) bytes += std::string(2, '\0');
    return bytes + header + content;
  }
  template <class Number>
  static std::vector<Number> numbers_of(const Result<Array>& array) {
    if (!array) return {};
    std::vector<Number> numbers(array->bytes() / sizeof(Number));
    std::memcpy(numbers.data(), array->data(), array->bytes());
    return numbers;
  }
  void expect_refused(const std::string& bytes, const std::string& problem, const std::string& remedy) const {
    const auto read = this->read(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, "EH-P30");
    EXPECT_THAT(std::string(read.error().value(Key::problem)), HasSubstr(problem));
    EXPECT_THAT(std::string(read.error().value(Key::remedy)), HasSubstr(remedy));
  }
  test::TemporaryFolder folder_;
};

TEST_F(Npy, ReadsEveryKnownFormat) {
  for (const char major : {'\x01', '\x02', '\x03'})
    EXPECT_TRUE(read(array("'<f4'", std::string(8, 'a'), major)));
}

std::string bytes_of(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

// The bytes are those that numpy.save writes for numpy.asfortranarray(numpy.arange(…).reshape(…)).
TEST_F(Npy, TransposesColumnMajorArrays) {
  const auto cube = read(array(
      "'<i2'", bytes_of({0, 0, 12, 0, 4, 0, 16, 0, 8,  0, 20, 0, 1, 0, 13, 0, 5, 0, 17, 0, 9,  0, 21, 0,
                         2, 0, 14, 0, 6, 0, 18, 0, 10, 0, 22, 0, 3, 0, 15, 0, 7, 0, 19, 0, 11, 0, 23, 0}),
      1, 0, "True, 'shape': (2, 3, 4)"));
  ASSERT_TRUE(cube);
  EXPECT_THAT(cube->shape, testing::ElementsAre(2, 3, 4));
  std::vector<std::int16_t> expected(24);
  std::iota(expected.begin(), expected.end(), std::int16_t{0});
  EXPECT_EQ(numbers_of<std::int16_t>(cube), expected);
  const auto empty = read(array("'<f4'", "", 1, 0, "True, 'shape': (0, 3)"));
  ASSERT_TRUE(empty);
  EXPECT_THAT(empty->shape, testing::ElementsAre(0, 3));
}

TEST_F(Npy, ReadsTheOrderAsPythonDoes) {
  const std::string columns = bytes_of({0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0});
  for (const char* word : {"True", "  True ", "\n True", "\tTrue\n"})
    EXPECT_THAT(numbers_of<std::int16_t>(
                    read(array("'<i2'", columns, 1, 0, std::string(word) + ", 'shape': (2, 3)"))),
                testing::ElementsAre(0, 1, 2, 3, 4, 5))
        << word;
  for (const char* word : {"1", "0", "true", "Truely", "None", "'True'", ""})
    expect_refused(array("'<i2'", columns, 1, 0, std::string(word) + ", 'shape': (2, 3)"),
                   "its fortran_order is " + std::string(word), "numpy.save");
}

TEST_F(Npy, AcceptsAShapeOfPython2) {
  const auto read = this->read(array("'<f4'", std::string(24, 'a'), 1, 0, "False, 'shape': (3L, 2L)"));
  ASSERT_TRUE(read);
  EXPECT_THAT(read->shape, testing::ElementsAre(3, 2));
  expect_refused(array("'<f4'", "", 1, 0, "False, 'shape': (L,)"), "its shape cannot be read", "");
}

TEST_F(Npy, SwapsTheOtherByteOrder) {
  EXPECT_THAT(numbers_of<float>(read(array("'>f4'", bytes_of({0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0})))),
              testing::ElementsAre(1.5F, -2.F));
  const auto pairs =
      read(array("'>c8'", bytes_of({0x3f, 0x80, 0, 0, 0x40, 0, 0, 0, 0x40, 0x40, 0, 0, 0x40, 0x80, 0, 0}), 1,
                 0, "False, 'shape': (1, 2)"));
  EXPECT_THAT(numbers_of<float>(pairs), testing::ElementsAre(1, 2, 3, 4));
  const auto both =
      read(array("'>i2'", bytes_of({0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5}), 1, 0, "True, 'shape': (2, 3)"));
  EXPECT_THAT(numbers_of<std::int16_t>(both), testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Npy, DoesNotReadForeignFilesWhole) {
  const std::filesystem::path endless = "/dev/zero";
  if (!std::filesystem::exists(endless)) GTEST_SKIP() << "no file here has no end";
  const auto read = read_npy(endless);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, "EH-P30");
  EXPECT_THAT(std::string(read.error().value(Key::problem)), HasSubstr("does not begin as an .npy file"));
}

TEST_F(Npy, AHeaderIsShort) {
  const std::string said = std::string("\x93NUMPY\x02") + std::string(1, '\0') + "\xff\xff\xff\x7f";
  expect_refused(said + std::string(100, ' '),
                 "its header is said to take 2147483647 bytes; at most 1048576 are read", "numpy.save");
  expect_refused(said.substr(0, 10), "its header is cut off", "copy it again");
}

TEST_F(Npy, RefusesAnUnknownFormat) {
  expect_refused(array("'<f4'", std::string(8, 'a'), 4), "4.0", "numpy.save");
  expect_refused(array("'<f4'", std::string(8, 'a'), 0, 9), "0.9", "numpy.save");
  expect_refused(array("'<f4'", std::string(8, 'a'), 1, 1), "1.1", "numpy.save");
}

TEST_F(Npy, ARemedyFitsTheProblem) {
  expect_refused(array("'|O'", std::string(8, 'a')), "'|O'", "objects");
  expect_refused(array("'<M8[ns]'", std::string(16, 'a')), "'<M8[ns]'", "astype");
  expect_refused(array("[('x', '<f4')]", std::string(8, 'a')), "[('x', '<f4')]", "each field");
  expect_refused(array("'<f4'", "abc"), "3 follow the header", "copy it again");
  expect_refused(array("'<f4'", std::string(16, 'a')), "more follow the header: something comes after",
                 "of its own");
  expect_refused(array("'<f4'", "").substr(0, 40), "cut off", "copy it again");
  expect_refused(array("'<f4'", "").substr(0, 7), "cut off", "copy it again");
  expect_refused(std::string("PK\x03\x04", 4) + std::string(40, 'a'), ".npz", "numpy.load");
  expect_refused("hello, I am a text", "does not begin", "numpy.save");
}

TEST_F(Npy, ReadsWhatItWrote) {
  const engine_dtype types[] = {{ENGINE_FLOAT, 16, 1}, {ENGINE_FLOAT, 64, 1},    {ENGINE_INT, 8, 1},
                                {ENGINE_UINT, 8, 1},   {ENGINE_INT, 64, 1},      {ENGINE_UINT, 32, 1},
                                {ENGINE_BOOL, 8, 1},   {ENGINE_COMPLEX, 128, 1}, {ENGINE_COMPLEX, 64, 1}};
  const std::string data(2 * 16, '\1');
  for (const engine_dtype type : types) {
    SCOPED_TRACE(load::name_of_type(type));
    ASSERT_TRUE(write_npy(folder_ / "y.npy", type, {2}, data.data()));
    const auto again = read_npy(folder_ / "y.npy");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->type.code, type.code);
    EXPECT_EQ(again->type.bits, type.bits);
    EXPECT_EQ(std::string(again->data(), again->bytes()), data.substr(0, type.bits / 4u));
  }
}

TEST_F(Npy, DoesNotWriteATypeWithoutANameAsAnother) {
  const engine_dtype types[] = {{ENGINE_INT, 4, 1},   {ENGINE_INT, 12, 1},    {ENGINE_FLOAT, 8, 1},
                                {ENGINE_FLOAT, 0, 1}, {ENGINE_FLOAT, 32, 2},  {ENGINE_BOOL, 1, 1},
                                {ENGINE_UINT, 2, 1},  {ENGINE_BFLOAT, 16, 1}, {ENGINE_STRING, 128, 1}};
  const std::string data(4 * 16, '\1');
  for (const engine_dtype type : types) {
    SCOPED_TRACE(load::name_of_type(type));
    const auto written = write_npy(folder_ / "y.npy", type, {4}, data.data());
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "EH-P30");
    EXPECT_THAT(std::string(written.error().value(Key::problem)), HasSubstr(load::name_of_type(type)));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "y.npy"));
  }
}

TEST_F(Npy, AnEmptyArrayIsNeverTooLarge) {
  const std::vector<std::int64_t> shape = {INT64_MAX, INT64_MAX, 0};
  ASSERT_TRUE(write_npy(folder_ / "y.npy", {ENGINE_FLOAT, 32, 1}, shape, nullptr));
  const auto again = read_npy(folder_ / "y.npy");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->shape, shape);
  EXPECT_EQ(again->bytes(), 0u);
}

TEST_F(Npy, ReportsATooLargeArray) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5LL << 30}, std::vector<std::int64_t>{INT64_MAX, INT64_MAX}}) {
    const auto written = write_npy(folder_ / "y.npy", {ENGINE_FLOAT, 32, 1}, shape, nullptr);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "EH-P30");
    EXPECT_THAT(std::string(written.error().value(Key::problem)),
                HasSubstr("at most 17179869184 are written"));
    EXPECT_THAT(std::string(written.error().value(Key::problem)),
                HasSubstr(shape.size() == 1 ? "it takes 21474836480 bytes" : "it takes more than"));
  }
  expect_refused(array("'<f4'", "abc", 1, 0, "False, 'shape': (9223372036854775807, 9223372036854775807)"),
                 "needs more than 18446744073709551615 bytes; at most 17179869184 are read", "not as large");
}

}  // namespace
}  // namespace enginehost::commands
