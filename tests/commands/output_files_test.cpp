// One output that no file can hold does not lose the other outputs of a run.
#include "host/commands/output_files.hpp"

#include <gmock/gmock.h>

#include <cstdint>

#include "host/commands/npy.hpp"
#include "host/explain/explain.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::commands {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class OutputFilesTest : public testing::Test {
 protected:
  engine_tensor tensor(engine_dtype type) {
    engine_tensor made{};
    made.data = data_;
    made.device = {ENGINE_CPU, 0};
    made.ndim = 1;
    made.dtype = type;
    made.shape = &extent_;
    return made;
  }
  std::int64_t extent_ = 2;
  std::int64_t data_[4] = {1, 2, 3, 4};
  const engine_tensor whole_ = tensor({ENGINE_INT, 64, 1}), half_ = tensor({ENGINE_BFLOAT, 16, 1}),
                      words_ = tensor({ENGINE_STRING, 128, 1});
  test::TemporaryFolder folder_;
};

TEST_F(OutputFilesTest, WritesThoseThatCanBeWritten) {
  const auto done =
      write_outputs({{"a", "a", &whole_}, {"b", "b.left", &half_}, {"c", "c", &words_}, {"d", "d", &whole_}},
                    folder_ / "out");
  ASSERT_TRUE(done);
  for (const char* written : {"a.npy", "d.npy"}) EXPECT_TRUE(read_npy(folder_ / "out" / written)) << written;
  ASSERT_EQ(done->failures.size(), 2u);
  const auto& reported = done->document.as_array();
  ASSERT_EQ(reported.size(), 4u);
  EXPECT_THAT(reported[3]["file"].as_string(), HasSubstr("d.npy"));
  EXPECT_FALSE(reported[1]["file"].is_string());
  EXPECT_EQ(reported[1]["diagnosis"]["code"].as_string(), "EH-P30");
  EXPECT_THAT(done->text, HasSubstr("  b  bfloat16[2]  not written\n"));
  EXPECT_THAT(done->text, HasSubstr("d.npy\n"));
}

TEST_F(OutputFilesTest, ANameForgesNoLine) {
  const auto done = write_outputs({{"a\n  b", "a\n  b", &whole_}}, {});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->text, "  a   b  int64[2]\n");
  EXPECT_EQ(done->document.as_array()[0]["output"].as_string(), "a\n  b");
}

TEST_F(OutputFilesTest, AnUnwritableOneIsReportedWithNameTypeAndRemedy) {
  auto done = write_outputs({{"b", "b.left", &half_}}, folder_ / "out");
  ASSERT_TRUE(done);
  ASSERT_EQ(done->failures.size(), 1u);
  Diagnosis failure = done->failures.front();
  EXPECT_THAT(explain::render(failure).cause,
              HasSubstr("the output b.left (bfloat16[2]) was not written to "));
  EXPECT_THAT(explain::render(failure).cause, HasSubstr(".npy has no name for the type bfloat16"));
  EXPECT_THAT(explain::render(failure).remedy, ElementsAre(HasSubstr("let the model convert it")))
      << "what is said of inputs does not help";
  EXPECT_EQ(explain::exit_status(failure), explain::ExitStatus::usage);
}

TEST_F(OutputFilesTest, CutsALongName) {
  const std::string name(300, 'y');
  const auto done = write_outputs({{name, name, &whole_}}, folder_ / "out");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->failures.empty());
  EXPECT_TRUE(read_npy(folder_ / "out" / (std::string(200, 'y') + ".npy")));
}

TEST_F(OutputFilesTest, DescribesThemWithoutAFolder) {
  const auto done = write_outputs({{"a", "a", &whole_}, {"b", "b", &half_}}, {});
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->failures.empty());
  EXPECT_EQ(done->text, "  a  int64[2]\n  b  bfloat16[2]\n");
}

}  // namespace
}  // namespace enginehost::commands
