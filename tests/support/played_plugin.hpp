// Plugins with a fake device, made with this build, for the tests that remove it.
#pragma once
#include <string>

namespace enginehost::test {

// The bytes of tests/faults/device_plugin.c as a plugin; read once.
const std::string& played_plugin();

// The same plugin with a library that never finishes loading.
const std::string& hanging_plugin();

}  // namespace enginehost::test
