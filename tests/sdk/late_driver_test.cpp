// A driver that answers too late: a fake libcuda.so.1 that the loader finds first.
#include <chrono>
#include <thread>

#include "base/child_process.hpp"
#include "tests/sdk/fixture.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

class LateDriver : public Sdk {
 protected:
  // Ten minutes pass: the answer ends, and with it what was decided by it.
  void end_the_silence() const {
    std::filesystem::remove_all(std::filesystem::path(cache_) / "state/decisions");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache_)) {
      if (entry.path().filename() != "platform.json") continue;
      Json facts = *parse_json(read_text(entry.path()), "platform.json");
      write_text(entry.path(), facts.set("until", 1).dump());
    }
  }
};

// A single timeout once kept applications on the processor for their whole life. Takes the timeout of a
// driver query.
TEST_F(LateDriver, Case26AsksALateDriverAgainInTheSameProcess) {
  const char* const mark = std::getenv("FAKE_CU_HANG_WHILE");
  if (mark == nullptr) {  // the loader reads LD_LIBRARY_PATH only at the program's start
    write_text(folder_ / "driver/libcuda.so.1", read_text(ENGINEHOST_FAKE_CUDA));
    ChildRequest again;
    again.argv = {"/proc/self/exe", "--gtest_filter=LateDriver.Case26*"};
    again.environment = {"LD_LIBRARY_PATH=" + (folder_ / "driver").native(), "FAKE_CU_VERSION=12040",
                         "FAKE_CU_WORK=", "FAKE_CU_HANG_WHILE=" + (folder_ / "the-driver-hangs").native()};
    again.deadline = std::chrono::minutes(4);
    const auto ended = run_child(again);
    ASSERT_TRUE(ended && ended->succeeded()) << (ended ? ended->output : "not started");
    return;
  }
  TestBuild for_gpu = good_build("reference-cu124");
  for_gpu.files = {{for_gpu.plugin, read_text(ENGINEHOST_DRIVER_PLUGIN)}};  // computes on the driver's GPU
  for_gpu.flavor = "cu124";
  for_gpu.priority = 90;
  for_gpu.requirements = Json::object().set(
      "cuda",
      Json::object().set("toolkit", "12.4").set("sass", Json::strings({"8.6"})).set("ptx", Json::array()));
  repository_.add(for_gpu);
  publish();
  write_text(mark, "");
  const auto late = open(request());
  ASSERT_NE(late, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(late.get()), "reference-good");
  EXPECT_THAT(enginehost_engine_report(late.get()), HasSubstr("did not answer"));
  // The silence costs its time once.
  const auto began = std::chrono::steady_clock::now();
  ASSERT_NE(open(request()), nullptr) << said();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  std::filesystem::remove(mark);
  end_the_silence();
  // An open engine is checked again after a second.
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const auto next = open(request());
  ASSERT_NE(next, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(next.get()), "reference-cu124");
}

}  // namespace
}  // namespace enginehost::test
