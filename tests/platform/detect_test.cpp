// This machine, whatever it is.
#include "host/platform/detect.hpp"

#include <gmock/gmock.h>

#include "host/platform/platform.hpp"
#include "tests/platform/fixtures.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::platform {
namespace {

using test::library_folder;

TEST(Detect, ThisMachineIsDetectedAndRoundTrips) {
  DetectRequest request;
  request.cache_folder = std::filesystem::temp_directory_path();
  request.helper = ENGINEHOST_PROBE;
  const Platform platform = detect(request);
  EXPECT_EQ(platform.os.value(), "linux");
  EXPECT_TRUE(platform.arch.is_known());
  EXPECT_TRUE(platform.kernel.is_known());
  EXPECT_TRUE(platform.libc.is_known());
  EXPECT_TRUE(platform.cpu.is_known());
  EXPECT_THAT(platform.page_size.value(), testing::AnyOf(4096u, 16384u, 65536u));
  EXPECT_EQ(platform.page_size.source(), "sysconf(_SC_PAGESIZE)");
  EXPECT_GT(platform.memory.value().total, 0u);
  EXPECT_GE(platform.memory.value().total, platform.memory.value().available);
  EXPECT_TRUE(platform.disk.is_known());
  EXPECT_TRUE(platform.metal.is_absent());
  EXPECT_TRUE(platform.vcruntime.is_absent());
  const auto back = platform_from_json(*parse_json(to_json(platform).dump(), "this machine"), "this machine");
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, platform);
  RecordProperty("report", describe(platform));
}

TEST(Detect, ANewlyInstalledDriverIsSeenAtTheNextCall) {
  FakeRoot machine;
  machine.pci("0000:01:00.0", "0x10de", "0x2684", "0x030000");
  DetectRequest request;
  request.root = machine.path();
  request.helper = ENGINEHOST_PROBE;
  const Variable visible("CUDA_VISIBLE_DEVICES", nullptr);
  EXPECT_TRUE(detect(request).cuda.driver_cuda.is_absent());
  machine.copy(library_folder + "libcuda.so.1", FAKE_CUDA);
  EXPECT_EQ(detect(request).cuda.driver_cuda.value(), "12.2");
}

TEST(Detect, AnEmptyRootGivesACompleteReport) {
  FakeRoot machine;
  DetectRequest request;
  request.root = machine.path();
  const Platform platform = detect(request);
  EXPECT_TRUE(platform.cuda.library.is_absent());
  EXPECT_TRUE(platform.memory.is_unknown());
  EXPECT_FALSE(describe(platform).empty());
}

TEST(Libraries, TheLoadersChoiceIsReportedForEachName) {
  Platform platform;
  look_for_libraries(platform, {"libnosuchlibrary.so.7", "libc.so.6", "libc.so.6", "../etc/passwd"});
  ASSERT_TRUE(platform.libraries.is_known());
  const Variables& found = platform.libraries.value();
  ASSERT_EQ(found.size(), 2u) << "each name once, and none that is a path";
  EXPECT_EQ(found[0].first, "libc.so.6");
  EXPECT_TRUE(std::filesystem::exists(found[0].second)) << found[0].second;
  EXPECT_EQ(found[1].first, "libnosuchlibrary.so.7");
  EXPECT_EQ(found[1].second, "");
  EXPECT_FALSE(platform.libraries.source().empty());
  Platform unasked;
  look_for_libraries(unasked, {});
  EXPECT_TRUE(unasked.libraries.is_unknown());
}

}  // namespace
}  // namespace enginehost::platform
