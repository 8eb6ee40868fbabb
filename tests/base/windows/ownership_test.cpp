// The owner of a folder and the users who may write into it, by Windows' access lists.
#include "base/ownership.hpp"

#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "base/windows/system.hpp"
#include "tests/base/temporary_folder.hpp"
// After <windows.h>, which they need.
#include <aclapi.h>
#include <sddl.h>

namespace enginehost::test {
namespace {

using testing::HasSubstr;

// Replaces the folder's list by one in the security descriptor language: "D:P(A;OICI;FA;;;WD)".
void set_list(const std::filesystem::path& folder, const wchar_t* text) {
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  ASSERT_TRUE(
      ::ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &descriptor, nullptr));
  ASSERT_TRUE(::SetFileSecurityW(folder.c_str(), DACL_SECURITY_INFORMATION, descriptor));
  ::LocalFree(descriptor);
}

TEST(Ownership, AFolderThatOnlyItsOwnerMayWriteIsTrusted) {
  const TemporaryFolder folder;
  set_list(folder.path(), L"D:P(A;OICI;FA;;;CO)(A;OICI;0x1200a9;;;WD)");
  const auto problem = who_may_change(folder.path(), Purpose::belief).problem;
  EXPECT_FALSE(problem) << problem->value(Key::problem);
  EXPECT_FALSE(who_may_change(folder / "not-there", Purpose::belief).problem);
}

TEST(Ownership, F22AWorldWritableFolderIsNotTrusted) {
  const TemporaryFolder folder;
  set_list(folder.path(), L"D:P(A;OICI;FA;;;WD)");
  const auto problem = who_may_change(folder.path(), Purpose::belief).problem;
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->code, "EH-F22");
  EXPECT_EQ(problem->value(Key::folder), path_text(folder.path()));
  EXPECT_THAT(std::string(problem->value(Key::problem)), HasSubstr("Everyone (S-1-1-0) may write into it"));
  EXPECT_THAT(std::string(problem->value(Key::owner)), HasSubstr("S-1-"));
}

}  // namespace
}  // namespace enginehost::test
