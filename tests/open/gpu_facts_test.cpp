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
  Diagnosis failure = diagnose(Code::driver_and_library_differ);
  add_gpu_facts(machine, {}, failure);
  EXPECT_EQ(explain::render(failure).cause, "the kernel driver is 535.183.01; its library is 550.54.14");
}

TEST(GpuFacts, WhatTheDriverQueryMetIsNoUseAfterFork) {
  for (const char* init : {"3", "0"}) {
    platform::Platform machine;
    machine.cuda.driver = platform::Fact<std::string>::known("580.65.06", "/proc/driver/nvidia/version");
    machine.cuda.library = platform::Fact<platform::Installed>::known({"580.65.06", "/lib/libcuda.so.1", ""},
                                                                      "/etc/ld.so.cache");
    machine.cuda.init = platform::Fact<std::string>::known(init, "cuInit");
    Diagnosis failure = diagnose(Code::cuda_after_fork);
    add_gpu_facts(machine, {}, failure);
    EXPECT_EQ(failure.code, *init == '3' ? "EH-G13" : "EH-G14");
  }
}

}  // namespace
}  // namespace enginehost::open
