#include "base/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost {
namespace {

TEST(Diagnosis, KeepsEvidenceInOrderAndAKeyMayOccurSeveralTimes) {
  const Diagnosis diagnosis = diagnose("EH-L01")
                                  .with("library", "libx.so.1")
                                  .with("searched", "/a", "DT_RUNPATH")
                                  .with("searched", "/b");
  EXPECT_EQ(diagnosis.code, "EH-L01");
  EXPECT_EQ(diagnosis.value("library"), "libx.so.1");
  EXPECT_EQ(diagnosis.value("searched"), "/a");
  EXPECT_EQ(diagnosis.values("searched"), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(diagnosis.evidence[1].source, "DT_RUNPATH");
  EXPECT_EQ(diagnosis.value("needed_by"), "");
  EXPECT_TRUE(diagnosis.values("needed_by").empty());
  EXPECT_TRUE(diagnosis.title.empty() && diagnosis.cause.empty() && diagnosis.remedy.empty());
}

TEST(Diagnosis, ContextIsAddedOnTheWayUpInnermostFirst) {
  Diagnosis diagnosis = diagnose("EH-F01");
  diagnosis.within("reading the index").within("opening reference 1.0");
  EXPECT_EQ(diagnosis.context, (std::vector<std::string>{"reading the index", "opening reference 1.0"}));
}

TEST(Diagnosis, NamesTheErrnoAndItsText) {
  const Diagnosis full = diagnose_errno("EH-F15", ENOSPC);
  EXPECT_EQ(full.value("errno"), "ENOSPC");
  EXPECT_EQ(full.value("os_said"), "No space left on device");
  const Diagnosis strange = diagnose_errno("EH-F16", 98765);
  EXPECT_EQ(strange.value("errno"), "98765");
  EXPECT_EQ(strange.value("os_said"), "unknown error");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(diagnose("EH-S01").with("value", std::to_string(value)));
  return value / 2;
}

Result<int> quarter(int value) {
  TRY_ASSIGN(const int once, half(value));
  TRY_ASSIGN(const int twice, half(once));
  return twice;
}

Result<void> is_even(int value) {
  TRY(half(value));
  return {};
}

TEST(Result, TryLeavesTheFunctionWithTheFirstDiagnosis) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(7).error().value("value"), "7");
  EXPECT_EQ(quarter(6).error().value("value"), "3");
  EXPECT_TRUE(is_even(2));
  EXPECT_EQ(is_even(3).error().code, "EH-S01");
}

TEST(CancelToken, CopiesShareTheirState) {
  const CancelToken token, other;
  const CancelToken copy = token;
  EXPECT_FALSE(copy.canceled());
  token.cancel();
  EXPECT_TRUE(copy.canceled());
  EXPECT_FALSE(other.canceled());
}

}  // namespace
}  // namespace enginehost
