// A plugin whose device is played, compiled for the tests that take it away.
#pragma once
#include <map>
#include <string>

#include "base/child_process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

// The bytes of tests/faults/device_plugin.c, compiled together with more source; once for each.
inline const std::string& played_plugin(const std::string& more = "") {
  static std::map<std::string, std::string> made;
  std::string& bytes = made[more];
  if (!bytes.empty()) return bytes;
  const TemporaryFolder folder;
  const std::string root = ENGINEHOST_SOURCE_DIR, file = (folder / "plugin.so").native();
  write_text(folder / "more.c", more + "\n");
  ChildRequest compiler;
  compiler.argv = {"cc",
                   "-shared",
                   "-fPIC",
                   "-O1",
                   "-I" + root + "/plugin-api/include",
                   root + "/tests/faults/device_plugin.c",
                   (folder / "more.c").native(),
                   "-o",
                   file};
  const auto ended = run_child(compiler);
  if (ended && ended->succeeded()) bytes = read_text(file);
  return bytes;
}

}  // namespace enginehost::test
