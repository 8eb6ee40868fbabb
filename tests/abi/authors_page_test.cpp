// Runs the commands of docs/engine-authors.md and compares their output with the page.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/paths.hpp"

namespace {

namespace fs = std::filesystem;

struct Step {
  std::string command, printed;
};

// The "$ command" lines of ```console blocks, each with the lines below it. A command ending in \ continues.
std::vector<Step> console_steps(const fs::path& page) {
  std::vector<Step> steps;
  std::ifstream stream(page);
  bool inside = false, continues = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = line == "```console";
    } else if (inside && continues) {
      steps.back().command += "\n" + line;
      continues = line.ends_with('\\');
    } else if (inside && line.rfind("$ ", 0) == 0) {
      steps.push_back({line.substr(2), ""});
      continues = line.ends_with('\\');
    } else if (inside && !steps.empty()) {
      steps.back().printed += line + "\n";
    }
  }
  return steps;
}

std::string run_in(const fs::path& folder, const std::string& command) {
  const fs::path script = folder / "step.sh";
  std::ofstream(script) << "cd '" << folder.string() << "'\nPATH='"
                        << fs::path(CHECK_COMMAND).parent_path().string() << "':$PATH\n{ " << command
                        << "\n} 2>&1\n";
  std::string printed;
  std::FILE* pipe = popen(("sh '" + script.string() + "'").c_str(), "r");
  if (!pipe) return "popen failed";
  char buffer[4096];
  for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) printed.append(buffer, got);
  pclose(pipe);
  return printed;
}

TEST(AuthorsPage, ItsCommandsPrintWhatItShows) {
  const auto steps = console_steps(fs::path(enginehost::test::source_path()) / "docs/engine-authors.md");
  ASSERT_GE(steps.size(), 3U);
  std::string pattern = (fs::temp_directory_path() / "authors_page_XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path folder = pattern;
  for (const char* part : {"examples", "plugin-api"})
    fs::create_directory_symlink(fs::path(enginehost::test::source_path()) / part, folder / part);
  for (const Step& step : steps) EXPECT_EQ(run_in(folder, step.command), step.printed) << step.command;
  fs::remove_all(folder);
}

}  // namespace
