#include "tests/binary/oracle_wheels.hpp"
#include "tests/support/paths.hpp"

#include <cctype>

namespace enginehost::binary::oracle {

std::ostream& operator<<(std::ostream& out, const Wheel& wheel) {
  return out << wheel.project << ' ' << wheel.version << ' ' << wheel.platform;
}

std::string name_of_test(const testing::TestParamInfo<Wheel>& wheel) {
  std::string name =
      std::string(wheel.param.project) + "_" + wheel.param.version + "_" + wheel.param.platform;
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

void OracleWheels::SetUp() {
  if (!oracles_.installed()) GTEST_SKIP() << "llvm-objdump, llvm-nm or llvm-readobj is not installed";
  const Wheel& wheel = GetParam();
  const std::string downloads = test::build_path("/downloads");
  const Said said =
      ask({"python3", test::source_path("/tests/engines/fetch_wheel.py"), "--platform", wheel.platform,
           downloads, wheel.project, wheel.version, "*.dll", "*.pyd", "*.so", "*.dylib"});
  folder_ = said.text.substr(0, said.text.find('\n'));
  if (!said.succeeded || !std::filesystem::is_directory(folder_))
    GTEST_SKIP() << "skipped: pip cannot get " << wheel.project << " " << wheel.version << " for "
                 << wheel.platform;
}

void OracleWheels::compare_macho(const std::string& file, const BinaryInfo& info) {
  std::vector<std::string> machines;
  for (const Slice& slice : info.slices) machines.push_back(slice.machine);
  if (machines.empty()) machines.push_back(info.machine);
  for (const std::string& machine : machines)
    tally_.compare(file + " (" + machine + ")", our_macho_facts(file, machine),
                   ask_about_macho(oracles_, file, machine));
}

void OracleWheels::compare_windows(const std::vector<std::string>& files) {
  const auto said = ask_about_pe(oracles_.readobj, oracles_.objdump, files);
  for (const std::string& file : files) {
    ASSERT_TRUE(said.contains(file)) << file;
    tally_.compare(file, our_pe_facts(file), said.at(file));
  }
}

TEST_P(OracleWheels, AgreeWithTheOracleOnEveryLibrary) {
  std::vector<std::string> windows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().native();
    const Result<BinaryInfo> info = read_binary(file);
    ASSERT_TRUE(info.has_value()) << file;
    if (info->kind == Kind::pe) windows.push_back(file);
    if (info->kind == Kind::macho) compare_macho(file, *info);
  }
  compare_windows(windows);
  EXPECT_GE(tally_.files, GetParam().libraries);
  std::ostringstream name;
  name << GetParam();
  tally_.print(name.str().c_str());
}

}  // namespace enginehost::binary::oracle
