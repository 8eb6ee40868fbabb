#include "host/attempt/load_check.hpp"

#include <gtest/gtest.h>

#include "host/explain/explain.hpp"

namespace enginehost::open {
namespace {

TEST(GpuFacts, NamesBothVersionsOfADriverThatDoesNotFitItsLibrary) {
  platform::Platform machine;
  machine.cuda.driver = platform::Fact<std::string>::known("535.183.01", "/proc/driver/nvidia/version");
  machine.cuda.library = platform::Fact<platform::Installed>::known(
      {"550.54.14", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", ""}, "/etc/ld.so.cache");
  Diagnosis failure = diagnose("EH-G09");
  add_gpu_facts(machine, {}, failure);
  explain::complete(failure);
  EXPECT_EQ(failure.cause, "the kernel driver is 535.183.01; its library is 550.54.14");
}

}  // namespace
}  // namespace enginehost::open
