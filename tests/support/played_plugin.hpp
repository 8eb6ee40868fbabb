// Plugins with a device that is played, made with this build, for the tests that take it away.
#pragma once
#include <string>

namespace enginehost::test {

// The bytes of tests/faults/device_plugin.c as a plugin; read once.
const std::string& played_plugin();

// The same with a library that never comes up.
const std::string& hanging_plugin();

}  // namespace enginehost::test
