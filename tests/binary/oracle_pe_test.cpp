// Headers, imports, exports and flags of Windows libraries agree with llvm-readobj.
#include "tests/binary/oracle_pe.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::binary {
namespace {

TEST(OraclePe, AgreesWithReadobjOnEveryFileOfWine) {
  const std::string readobj = oracle::llvm_tool("llvm-readobj");
  const std::string objdump = oracle::llvm_tool("llvm-objdump");
  if (readobj.empty() || objdump.empty()) GTEST_SKIP() << "llvm-readobj or llvm-objdump is not installed";
  std::vector<std::string> files;
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu/wine/x86_64-windows", "/usr/lib/i386-linux-gnu/wine/i386-windows",
        "/usr/lib/wine/x86_64-windows", "/usr/lib/wine/i386-windows"}) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
      if (entry.is_regular_file())
        if (const Result<BinaryInfo> info = read_binary(entry.path()); info && info->kind == Kind::pe)
          files.push_back(entry.path().native());
  }
  if (files.empty()) GTEST_SKIP() << "Wine's libraries are not installed (package libwine)";
  oracle::Tally tally;
  const std::map<std::string, oracle::Facts> said = oracle::ask_about_pe(readobj, objdump, files);
  for (const std::string& file : files) {
    ASSERT_TRUE(said.contains(file)) << file;
    tally.compare(file, oracle::our_pe_facts(file), said.at(file));
  }
  EXPECT_GT(tally.files, 100u);
  tally.print("Wine's PE files");
}

}  // namespace
}  // namespace enginehost::binary
