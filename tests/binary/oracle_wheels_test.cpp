// The same oracles over libraries that were really published for Windows and macOS, fetched through pip.
#include <gtest/gtest.h>

#include "host/binary/binary.hpp"
#include "tests/binary/oracle_macho.hpp"
#include "tests/binary/oracle_pe.hpp"

namespace enginehost::binary {
namespace {

struct Wheel {
  const char* project;
  const char* version;
  const char* platform;
  std::size_t libraries;  // at least; of a universal file each slice counts
};
std::ostream& operator<<(std::ostream& out, const Wheel& wheel) {
  return out << wheel.project << ' ' << wheel.version << ' ' << wheel.platform;
}

class OracleWheels : public testing::TestWithParam<Wheel> {
 protected:
  void SetUp() override {
    if (!oracles_.installed()) GTEST_SKIP() << "llvm-objdump, llvm-nm or llvm-readobj is not installed";
    const Wheel& wheel = GetParam();
    const std::string downloads = ENGINEHOST_BUILD_DIR "/downloads";
    const oracle::Said said = oracle::ask({"python3", ENGINEHOST_SOURCE_DIR "/tests/engines/fetch_wheel.py",
                                           "--platform", wheel.platform, downloads, wheel.project,
                                           wheel.version, "*.dll", "*.pyd", "*.so", "*.dylib"});
    folder_ = said.text.substr(0, said.text.find('\n'));
    if (!said.succeeded || !std::filesystem::is_directory(folder_))
      GTEST_SKIP() << "skipped: pip cannot get " << wheel.project << " " << wheel.version << " for "
                   << wheel.platform;
  }

  oracle::MachoOracles oracles_;
  std::string folder_;
};

TEST_P(OracleWheels, every_library_is_read_as_the_oracle_reads_it) {
  oracle::Tally tally;
  std::vector<std::string> windows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = entry.path().native();
    const Result<BinaryInfo> info = read_binary(file);
    ASSERT_TRUE(info.has_value()) << file;
    if (info->kind == Kind::pe) windows.push_back(file);
    if (info->kind != Kind::macho) continue;
    std::vector<std::string> machines;
    for (const Slice& slice : info->slices) machines.push_back(slice.machine);
    if (machines.empty()) machines.push_back(info->machine);
    for (const std::string& machine : machines)
      tally.compare(file + " (" + machine + ")", oracle::our_macho_facts(file, machine),
                    oracle::ask_about_macho(oracles_, file, machine));
  }
  const auto said = oracle::ask_about_pe(oracles_.readobj, oracles_.objdump, windows);
  for (const std::string& file : windows) {
    ASSERT_TRUE(said.contains(file)) << file;
    tally.compare(file, oracle::our_pe_facts(file), said.at(file));
  }
  EXPECT_GE(tally.files, GetParam().libraries);
  std::ostringstream name;
  name << GetParam();
  tally.print(name.str().c_str());
}

INSTANTIATE_TEST_SUITE_P(Published, OracleWheels,
                         testing::Values(Wheel{"onnxruntime", "1.22.0", "win_amd64", 3},
                                         Wheel{"onnxruntime", "1.31.1", "win_arm64", 3},
                                         Wheel{"onnxruntime", "1.22.0", "macosx_13_0_universal2", 4},
                                         Wheel{"numpy", "2.2.6", "win_amd64", 20},
                                         Wheel{"numpy", "2.2.6", "macosx_14_0_arm64", 19},
                                         Wheel{"numpy", "2.4.6", "win_arm64", 20},
                                         Wheel{"safetensors", "0.8.0", "win_amd64", 1},
                                         Wheel{"safetensors", "0.8.0", "macosx_11_0_arm64", 1},
                                         Wheel{"tokenizers", "0.23.3", "win_amd64", 1},
                                         Wheel{"tokenizers", "0.23.3", "macosx_10_12_x86_64", 1},
                                         Wheel{"nvidia-nvjpeg-cu12", "12.4.0.76", "win_amd64", 1}),
                         [](const testing::TestParamInfo<Wheel>& wheel) {
                           std::string name = std::string(wheel.param.project) + "_" + wheel.param.platform;
                           for (char& letter : name)
                             if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
                           return name;
                         });

}  // namespace
}  // namespace enginehost::binary
