// The folder that this process of tests takes for its user's (environment.cpp sets it up before the first
// test).
#pragma once
#include <filesystem>

namespace enginehost::test {

// The configuration file that is read there; it is not there at first.
std::filesystem::path config_of_tests();

}  // namespace enginehost::test
