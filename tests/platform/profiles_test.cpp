// The recorded machines: each is read, round-trips, and agrees with NVIDIA's tables.
#include <gmock/gmock.h>

#include <map>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/platform/platform.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::platform {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> profile_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(test::source_path()) / "tests/profiles"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Profile : public ::testing::TestWithParam<fs::path> {
 protected:
  void SetUp() override {
    const auto bytes = read_file(GetParam());
    ASSERT_TRUE(bytes.has_value());
    auto parsed = parse_json(*bytes, path_text(GetParam()));
    ASSERT_TRUE(parsed.has_value()) << parsed.error().value(Key::problem);
    document = std::move(*parsed);
    auto read = platform_from_json(document, path_text(GetParam()));
    ASSERT_TRUE(read.has_value()) << read.error().value(Key::member) << ": "
                                  << read.error().value(Key::problem);
    platform = std::move(*read);
  }
  Json document;
  Platform platform;
};

TEST_P(Profile, NamesItsSource) {
  EXPECT_EQ(document["format"].as_integer(), 1);
  EXPECT_FALSE(document["about"].as_string().empty());
}

TEST_P(Profile, RoundTrips) {
  // Byte for byte: the reader knows every member of the file and loses none.
  EXPECT_EQ(to_json(platform).dump(1), document["platform"].dump(1));
  EXPECT_FALSE(describe(platform).empty());
}

TEST_P(Profile, HoldsNoPersonalDataAndNoSerialNumber) {
  for (const CudaDevice& device : platform.cuda.devices.value()) EXPECT_EQ(device.uuid, "");
  EXPECT_EQ(to_json(platform, true).dump(), to_json(platform).dump());
}

// docs.nvidia.com/cuda/cuda-toolkit-release-notes: the newest CUDA of each driver branch.
TEST_P(Profile, DriverAndItsNewestCudaBelongTogether) {
  if (!platform.cuda.driver.is_known() || !platform.cuda.driver_cuda.is_known()) return;
  static const std::map<std::string, std::string> linux_branches = {
      {"450", "11.0"}, {"460", "11.2"}, {"470", "11.4"}, {"510", "11.6"}, {"515", "11.7"}, {"520", "11.8"},
      {"525", "12.0"}, {"530", "12.1"}, {"535", "12.2"}, {"545", "12.3"}, {"550", "12.4"}, {"555", "12.5"},
      {"560", "12.6"}, {"565", "12.7"}, {"570", "12.8"}, {"575", "12.9"}, {"580", "13.0"}, {"590", "13.1"}};
  // Windows numbers differ within a release: 522.06 belongs to the branch that came with 11.8, and 595 is
  // newer than the table.
  static const std::map<std::string, std::string> windows_branches = {
      {"522", "11.8"}, {"527", "12.0"}, {"595", "13.2"}, {"581", "13.0"}};
  // docs.nvidia.com/jetson: JetPack's release notes, by release of Linux for Tegra.
  static const std::map<std::string, std::string> jetson_releases = {{"L4T 36.4.3", "12.6"}};
  if (platform.cuda.hardware.value().starts_with("tegra")) {
    const std::string release = split(platform.cuda.hardware.value(), ',').back().substr(1);
    ASSERT_TRUE(jetson_releases.contains(release)) << release;
    EXPECT_EQ(platform.cuda.driver_cuda.value(), jetson_releases.at(release));
    return;
  }
  const std::string branch = split(platform.cuda.driver.value(), '.').front();
  const bool windows_driver = platform.os.value() == "windows" || platform.wsl.is_known();
  const auto& branches = windows_driver ? windows_branches : linux_branches;
  ASSERT_TRUE(branches.contains(branch)) << branch;
  EXPECT_EQ(platform.cuda.driver_cuda.value(), branches.at(branch));
}

// The first drivers that support a card are those of the first CUDA that compiles for it; later ones end with
// its last branch.
TEST_P(Profile, DriverSupportsItsCards) {
  static const std::map<std::string, std::string> first = {{"6.1", "8.0"},  {"7.0", "9.0"},  {"8.0", "11.0"},
                                                           {"8.6", "11.1"}, {"8.7", "11.4"}, {"8.9", "11.8"},
                                                           {"9.0", "11.8"}, {"12.0", "12.8"}};
  for (const CudaDevice& device : platform.cuda.devices.value()) {
    ASSERT_TRUE(first.contains(device.compute_capability)) << device.compute_capability;
    EXPECT_TRUE(compare_versions(platform.cuda.driver_cuda.value(), first.at(device.compute_capability)) >= 0)
        << device.name;
  }
}

TEST_P(Profile, LibrariesAreThoseOfTheDistribution) {
  if (!platform.distribution.is_known() || !platform.libc.is_known() || platform.libc.value().name != "glibc")
    return;
  const std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"centos 7", {"2.17", "3.4.19"}},     {"ubuntu 20.04", {"2.31", "3.4.28"}},
      {"ubuntu 22.04", {"2.35", "3.4.30"}}, {"ubuntu 24.04", {"2.39", "3.4.33"}},
      {"debian 12", {"2.36", "3.4.30"}},    {"rhel 9.4", {"2.34", "3.4.29"}},
      {"rhel 8.10", {"2.28", "3.4.25"}},    {"fedora 41", {"2.40", "3.4.33"}}};
  const std::string key = platform.distribution.value().id + " " + platform.distribution.value().version;
  ASSERT_TRUE(expected.contains(key)) << key;
  EXPECT_EQ(platform.libc.value().version, expected.at(key).first);
  // A program that carries its own, as those of tests/gpu/pack.sh do, reports the one that it loaded.
  if (platform.libstdcxx.value().path.find("/carried/") != std::string::npos) return;
  EXPECT_EQ(platform.libstdcxx.value().glibcxx, expected.at(key).second);
}

std::string case_name(const ::testing::TestParamInfo<fs::path>& info) {
  std::string name = path_text(info.param.stem());
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Profile, ::testing::ValuesIn(profile_files()), case_name);

TEST(Profiles, CoverManyMachines) { EXPECT_GE(profile_files().size(), 18u); }

}  // namespace
}  // namespace enginehost::platform
