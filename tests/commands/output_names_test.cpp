// The outputs of a model never overwrite each other's files.
#include "host/commands/output_files.hpp"

#include <gmock/gmock.h>

namespace enginehost::commands {
namespace {

using testing::ElementsAre;

TEST(OutputNames, AreThoseOfTheModelWherePossible) {
  EXPECT_THAT(file_names_of({"y", "logits.1", "a/b", "", ".hidden"}),
              ElementsAre("y", "logits.1", "a_b", "_", "_.hidden"));
}

TEST(OutputNames, AreUnique) {
  EXPECT_THAT(file_names_of({"a/b", "a_b", "a b"}), ElementsAre("a_b_2", "a_b", "a_b_3"));
  EXPECT_THAT(file_names_of({"a/b", "a_b", "a_b_2"}), ElementsAre("a_b_3", "a_b", "a_b_2"));
  EXPECT_THAT(file_names_of({"y", "y"}), ElementsAre("y", "y_2"));
}

TEST(OutputNames, FitIntoAFileName) {
  const std::string long_name(300, 'y'), cut(200, 'y');
  EXPECT_THAT(file_names_of({long_name, long_name + "z", cut}), ElementsAre(cut + "_2", cut + "_3", cut));
}

// Each name was searched from 2 on, which took minutes.
TEST(OutputNames, ManyOutputsMayShareOneName) {
  const std::vector<std::string> outputs(200'000, "a/b");
  EXPECT_EQ(file_names_of(outputs).back(), "a_b_200000");
}

TEST(OutputNames, DifferByMoreThanCase) { EXPECT_THAT(file_names_of({"Y", "y"}), ElementsAre("Y", "y_2")); }

}  // namespace
}  // namespace enginehost::commands
