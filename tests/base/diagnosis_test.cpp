#include "base/diagnosis.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/cancel.hpp"
#include "base/result.hpp"

namespace enginehost {
namespace {

TEST(Diagnosis, KeepsEvidenceInOrderAndAKeyMayOccurSeveralTimes) {
  const Diagnosis diagnosis = diagnose(Code::library_missing)
                                  .with(Key::library, "libx.so.1")
                                  .with(Key::searched, "/a", "DT_RUNPATH")
                                  .with(Key::searched, "/b");
  EXPECT_EQ(diagnosis.code, "EH-L01");
  EXPECT_EQ(diagnosis.value(Key::library), "libx.so.1");
  EXPECT_EQ(diagnosis.value(Key::searched), "/a");
  EXPECT_EQ(diagnosis.values(Key::searched), (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(diagnosis.evidence[1].source, "DT_RUNPATH");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "");
  EXPECT_TRUE(diagnosis.values(Key::needed_by).empty());
}

TEST(Diagnosis, ContextIsAddedOnTheWayUpInnermostFirst) {
  Diagnosis diagnosis = diagnose(Code::file_not_readable);
  diagnosis.within("reading the index").within("opening reference 1.0");
  EXPECT_EQ(diagnosis.context, (std::vector<std::string>{"reading the index", "opening reference 1.0"}));
}

TEST(Diagnosis, NamesTheErrnoAndItsText) {
  const Diagnosis full = diagnose_errno(Code::disk_full, ENOSPC);
  EXPECT_EQ(full.value(Key::errno_), "ENOSPC");
  EXPECT_EQ(full.value(Key::os_said), "No space left on device");
  const Diagnosis strange = diagnose_errno(Code::folder_not_writable, 98765);
  EXPECT_EQ(strange.value(Key::errno_), "98765");
  EXPECT_EQ(strange.value(Key::os_said), "unknown error");
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(diagnose(Code::no_build_fits).with(Key::value, std::to_string(value)));
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
  EXPECT_EQ(quarter(7).error().value(Key::value), "7");
  EXPECT_EQ(quarter(6).error().value(Key::value), "3");
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
