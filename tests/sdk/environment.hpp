// The user folder of this test process. environment.cpp sets it up before the first test.
#pragma once
#include <filesystem>

namespace enginehost::test {

// The configuration file in it, which does not exist at first.
std::filesystem::path config_of_tests();

}  // namespace enginehost::test
