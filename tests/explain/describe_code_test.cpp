#include "host/explain/describe_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace enginehost::explain {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DescribeCode, TemplatesReadWithoutEvidence) {
  EXPECT_EQ(readable("{library...} is needed by {needed_by|name}"), "LIBRARY is needed by NEEDED_BY");
  EXPECT_EQ(readable("{needed|bytes} are needed{?format}{!x}"), "NEEDED are needed");
  EXPECT_EQ(readable("{count|file|files} of it"), "COUNT files of it");
  EXPECT_EQ(readable("{status=ENGINE_LOST}start again"), "(STATUS is ENGINE_LOST) start again");
  EXPECT_EQ(readable("plain"), "plain");
  EXPECT_EQ(readable("cut {off"), "cut ");
}

TEST(DescribeCode, AcceptsEverySpellingOfACode) {
  EXPECT_EQ(normalised_code("l01"), "EH-L01");
  EXPECT_EQ(normalised_code("eh-l01"), "EH-L01");
  EXPECT_EQ(normalised_code("L1"), "EH-L1");
}

TEST(DescribeCode, LeavesNoBraceInReadableText) {
  for (const Entry& entry : all()) {
    EXPECT_THAT(describe_code(entry), Not(HasSubstr("{"))) << text_of(entry.code);
    EXPECT_THAT(describe_code(entry), HasSubstr(std::string(entry.meaning)));
  }
}

TEST(DescribeCode, TheTextHasMeaningRemediesAndStatus) {
  EXPECT_EQ(describe_code(*find("L22")),
            "EH-L22  folder is mounted noexec\n"
            "  means          The cache, or a library that the build finds outside it, is on a file system "
            "mounted noexec. No library can be loaded from there.\n"
            "  known before   mount flags, and a trial mapping of one page\n"
            "  known after    \"failed to map segment from shared object\"\n"
            "  to do          set ENGINEHOST_CACHE to a folder on a file system that is not mounted noexec\n"
            "  to do          put LIBRARY on a file system that is not mounted noexec\n"
            "  to do          as root: mount -o remount,exec MOUNT_POINT\n"
            "  to do          remove READ_ONLY_LAYER from \"system_layers\" of the configuration\n"
            "  the build      quarantined; checked again after ten minutes, or when it is allowed\n"
            "  proven         tests produce it\n"
            "  exit status    6");
}

TEST(DescribeCode, EngineErrorsExitByTheirStatus) {
  EXPECT_THAT(describe_code(*find("E01")),
              HasSubstr("exit status    6 while a build is opened; afterwards 2 for ENGINE_INVALID, 3 for "
                        "ENGINE_UNSUPPORTED, "));
  EXPECT_THAT(describe_code(*find("E01")), HasSubstr(", 2 for ENGINE_CORRUPT of a model"));
  const Json document = code_document(*find("E01"));
  EXPECT_EQ(document["exit_status"].as_integer(-1), 6);
  EXPECT_EQ(document["exit_statuses"]["ENGINE_CANCELLED"].as_integer(-1), 130);
  EXPECT_EQ(code_document(*find("L01")).find("exit_statuses"), nullptr);
  EXPECT_EQ(exit_status_text(*find("L01")), "6");
}

TEST(DescribeCode, TheDocumentHoldsTheSame) {
  const Json document = code_document(*find("EH-X02"));
  EXPECT_EQ(document["code"].as_string(), "EH-X02");
  EXPECT_EQ(document["proven"]["how"].as_string(), "from the file");
  EXPECT_FALSE(document["proven"]["reason"].as_string().empty());
  EXPECT_FALSE(document["consequence"].as_string().empty());
  EXPECT_EQ(code_document(*find("EH-S01")).find("proven"), nullptr);
}

}  // namespace
}  // namespace enginehost::explain
