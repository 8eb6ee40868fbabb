// The screens that users see: each row of golden_screens.cpp gives the outputs that golden/screens holds.
//
// golden_tests --rewrite writes the files again and prints the differences (ninja golden_screens).
#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "tests/end-to-end/golden_screens.hpp"
#include "tests/end-to-end/golden_text.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

// One file: a screen's output as text, or as a document.
struct GoldenFile {
  const Screen* screen;
  bool document;

  std::string name() const { return std::string(screen->name) + (document ? ".json" : ""); }
  fs::path path() const { return source_path("/tests/end-to-end/golden/screens/") + name() + ".txt"; }
  // Throws Lacking if this machine cannot make it.
  std::string made() const {
    Place place;
    if (screen->prepare != nullptr) screen->prepare(place);
    const std::string line = screen->command + std::string(document ? " --json" : "");
    return golden_text(place, line, place.show(line), document);
  }
  std::string held() const { return fs::exists(path()) ? read_text(path()) : ""; }
};

void PrintTo(const GoldenFile& file, std::ostream* out) { *out << file.name(); }

std::vector<GoldenFile> golden_files() {
  std::vector<GoldenFile> files;
  for (const Screen& screen : golden_screens()) {
    files.push_back({&screen, false});
    if (screen.has_document) files.push_back({&screen, true});
  }
  return files;
}

// A unified diff, by diff(1).
std::string difference(const GoldenFile& file, const std::string& now) {
  const TemporaryFolder folder;
  write_text(folder / "golden", file.held());
  write_text(folder / "now", now);
  ChildRequest request;
  request.argv = {"diff",
                  "-u",
                  "--label",
                  "golden/screens/" + file.name() + ".txt",
                  "--label",
                  "today",
                  (folder / "golden").native(),
                  (folder / "now").native()};
  request.keep_bytes = std::size_t{1} << 20;
  const auto outcome = run_child(request);
  return outcome ? outcome->output : "diff could not be started\n";
}

// Files in the folder that no row makes any more.
std::vector<fs::path> without_a_row() {
  std::set<fs::path> known;
  for (const GoldenFile& file : golden_files()) known.insert(file.path());
  std::vector<fs::path> files;
  const fs::path folder = source_path("/tests/end-to-end/golden/screens");
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (!known.contains(entry.path())) files.push_back(entry.path());
  return files;
}

class GoldenScreens : public testing::TestWithParam<GoldenFile> {};

TEST_P(GoldenScreens, StayAsTheyAre) {
  try {
    const std::string now = GetParam().made();
    if (now != GetParam().held())
      ADD_FAILURE() << difference(GetParam(), now)
                    << "If users should see this from now on, write the file again:\n  ninja -C "
                    << build_path() << " golden_screens";
  } catch (const Lacking& why) {
    GTEST_SKIP() << why.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenScreens, testing::ValuesIn(golden_files()), [](const auto& file) {
  std::string name = file.param.name();
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(GoldenFiles, HaveARowEach) {
  EXPECT_THAT(without_a_row(), testing::IsEmpty());
  std::set<std::string> names;
  for (const GoldenFile& file : golden_files()) EXPECT_TRUE(names.insert(file.name()).second) << file.name();
}

// Returns how many screens could not be made.
int rewrite() {
  int failed = 0, changed = 0, made = 0;
  for (const GoldenFile& file : golden_files()) {
    try {
      const std::string now = file.made();
      ++made;
      if (now == file.held()) continue;
      ++changed;
      std::fputs(difference(file, now).c_str(), stdout);
      write_text(file.path(), now);
    } catch (const Lacking& why) {
      std::printf("%s stays as it is: %s\n", file.name().c_str(), why.what());
    } catch (const std::exception& why) {
      ++failed;
      std::printf("%s was not made: %s\n", file.name().c_str(), why.what());
    }
  }
  for (const fs::path& file : without_a_row()) {
    std::printf("removed %s, which no row makes\n", file.c_str());
    fs::remove(file);
  }
  std::printf("%d screens, %d changed, %d failed\n", made, changed, failed);
  return failed;
}

}  // namespace
}  // namespace enginehost::test

int main(int argc, char** argv) {
  // The folders of the screens are below /tmp, so that their paths have the same length everywhere.
  enginehost::test::remove_variable("TMPDIR");
  if (argc == 2 && std::strcmp(argv[1], "--rewrite") == 0) return enginehost::test::rewrite() == 0 ? 0 : 1;
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
