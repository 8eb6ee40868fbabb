// Files of the package index, fetched through pip and kept in the build tree.
#pragma once
#include <filesystem>
#include <string>

#include "tests/engines/elf_names.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::engines::tests {

// The folder that holds the members, or the reason why there is none.
struct Fetched {
  std::string folder, why_not;
};

// `python`: the release of Python that the wheel is for, "3.11" if empty.
inline Fetched fetch(const std::string& project, const std::string& version, const std::string& glob,
                     const std::string& python = "") {
  const std::string downloads = test::build_path("/downloads");
  const std::string option = python.empty() ? "" : "--python " + python + " ";
  std::string command = "python3 '" + test::source_path("/tests/engines/fetch_wheel.py' ") + option + "'" +
                        downloads + "' " + project + " " + version + " '" + glob + "' 2>&1";
  std::string text = output_of(command);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::string expected = downloads + "/" + project + "-" + version;
  if (text == expected && std::filesystem::exists(expected)) return {expected, ""};
  return {"", "skipped: pip cannot get " + project + " " + version + ": " + text};
}

}  // namespace enginehost::engines::tests
