// The audit after loading: which libraries that came with an engine are not where they should be from.
#include "host/load/in_process/loaded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/explain/explain.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Audit : public ::testing::Test {
 protected:
  Library own(const std::string& name) { return {name, file("build/lib/" + name), "cache"}; }
  Library foreign(const std::string& name, const std::string& origin) {
    return {name, file("elsewhere/" + name), origin};
  }
  std::vector<Diagnosis> audit(const std::vector<Library>& came) {
    return hijacked(came, {workshop_.path("build"), workshop_.path("build/lib")});
  }
  std::string file(const std::string& name) { return workshop_.file(name, name).native(); }
  faults::Workshop workshop_;
};

TEST_F(Audit, L11_AFileFromElsewhereInPlaceOfTheBuildsIsAHijack) {
  const std::string wanted = own("libblas.so.3").path;
  const auto found = audit({foreign("libblas.so.3", "system")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value("wanted"), wanted);
  EXPECT_THAT(explain::describe(found[0]),
              HasSubstr("came from " + workshop_.path("elsewhere/libblas.so.3").native()));
}

TEST_F(Audit, L11_AFileOfTheEnvironmentIsToldWithItsVariable) {
  const auto found = audit({foreign("libother.so.1", "environment")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].value("from_environment"), "LD_LIBRARY_PATH");
  EXPECT_THAT(explain::describe(found[0]), HasSubstr("a folder of LD_LIBRARY_PATH"));
}

TEST_F(Audit, TheSystemsOwnLibrariesAndTheBuildsAreNone) {
  EXPECT_THAT(audit({own("libblas.so.3"), foreign("libm.so.6", "system")}), IsEmpty());
}

TEST_F(Audit, BothFilesInTheProcessAreNone) {
  const Library ours = own("libblas.so.3");
  EXPECT_THAT(audit({ours, foreign("libblas.so.3", "system")}), IsEmpty());
}

TEST_F(Audit, Case07_TheDriversLibrariesAreNone) {
  own("libcuda.so.1");
  EXPECT_THAT(audit({foreign("libcuda.so.1", "environment"),
                     foreign("libnvidia-ptxjitcompiler.so.1", "environment")}),
              IsEmpty());
}

}  // namespace
}  // namespace enginehost::load
