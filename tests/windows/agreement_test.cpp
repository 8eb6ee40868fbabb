// Generated trees of DLLs, compared with Wine's loader: whether the root loads, which file serves each name,
// which DLL is missing for which file, and every searched folder in order. Differences are listed with their
// reasons in known_differences.txt, which lists nothing that does not differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <random>

#include "base/text.hpp"
#include "tests/linker/known_differences.hpp"
#include "tests/support/paths.hpp"
#include "tests/windows/wine.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

constexpr unsigned libraries = 8;

std::string as_text(const std::set<std::string>& set) {
  return join(std::vector<std::string>(set.begin(), set.end()), ", ");
}

class WineAgreement : public Wine {
 protected:
  void SetUp() override {
    Wine::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!has_tool("clang-14") || !has_tool("lld-link-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
    narrow_ = for_i386();
  }
  void TearDown() override {
    clear_system_folders();
    Wine::TearDown();
  }

  // Eight DLLs, each of which needs some with a higher number. Each tree has its own places for them.
  void make_shape(std::mt19937& random) {
    for (unsigned number = libraries; number-- > 0;) {
      std::set<unsigned> needs;
      for (unsigned long k = random() % 4; number + 1 < libraries && k > 0; --k)
        needs.insert(number + 1 + static_cast<unsigned>(random() % (libraries - 1 - number)));
      if (number == 0) needs.insert({1, 2, 3});
      std::vector<std::string> names;
      for (const unsigned need : needs) names.push_back("pool/" + name_of(need));
      dll("pool/" + name_of(number), names);
    }
  }
  static std::string to_upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return text;
  }
  static std::string name_of(unsigned number) { return "enginehost" + std::to_string(number) + ".dll"; }

  // The root lies in engine/. Each of the others lies in none or in up to three folders, some as a copy for
  // another machine or as a web page.
  void place(std::mt19937& random) {
    clear_system_folders();
    const std::vector<std::string> names{"engine", "app",   "tools", "more",
                                         "added",  "other", "set",   "current"};
    std::vector<fs::path> folders;
    for (const std::string& name : names) {
      folders.push_back(folder() / name);
      if (name != "app") fs::remove_all(folders.back());
      fs::create_directories(folders.back());
    }
    folders.push_back(wine_system_folder());
    folders.push_back(wine_windows_folder());
    // More often in searched folders, so that enough trees load; and some trees have no broken files.
    folders.insert(folders.end(), 18, random() % 2 == 0 ? folder() / "engine" : wine_system_folder());
    for (const char* often : {"app", "added", "other"}) folders.insert(folders.end(), 6, folder() / often);
    const unsigned long bad_one_in = random() % 2 == 0 ? 12 : 1000;
    for (unsigned number = 0; number < libraries; ++number) {
      for (const std::string& name : {name_of(number), to_upper(name_of(number))})
        fs::remove(folder() / "app" / name);
      const std::string whole = bytes_of(folder() / "pool" / name_of(number));
      if (number == 0) write("engine/" + name_of(0), whole);
      for (unsigned long k = random() % 32 == 0 ? 0 : 2 + random() % 3; number > 0 && k > 0; --k) {
        const fs::path in = folders[random() % folders.size()];
        // Upper and lower case are the same.
        const std::string shout = to_upper(name_of(number));
        const bool loud = random() % 8 == 0;
        fs::remove(in / (loud ? name_of(number) : shout));
        const fs::path to = in / (loud ? shout : name_of(number));
        const unsigned long kind = random() % (3 * bad_one_in);
        write(to, kind == 0   ? for_arm64(whole)
                  : kind == 1 ? narrow_
                  : kind == 2 ? "<!DOCTYPE html><title>Log in</title>" + std::string(3000, ' ')
                              : whole);
      }
    }
  }
  void describe(std::mt19937& random) {
    const auto maybe = [&](std::vector<std::string> of) {
      std::vector<std::string> taken;
      for (const std::string& name : of)
        if (random() % 3 != 0) taken.push_back(windows_path(name));
      return taken;
    };
    machine_.path = maybe({"tools", "more", "nowhere"});
    machine_.added_directories = maybe({"added", "other"});
    machine_.dll_directory = random() % 3 == 0 ? windows_path("set") : "";
    machine_.current_directory = windows_path("current");
    preloaded_ = random() % 4 == 0 && fs::exists(folder() / "more" / name_of(7));
  }

  void compare(const std::string& id, std::uint32_t flags, KnownDifferences& known) {
    std::vector<std::string> more, preloaded;
    // A preload that fails is another test's subject; the last DLL needs nothing.
    if (preloaded_) write("more/" + name_of(7), bytes_of(folder() / "pool" / name_of(7)));
    if (preloaded_) preloaded.push_back(windows_path("more/" + name_of(7)));
    for (const std::string& file : preloaded) more.push_back("preload=" + file);
    const std::string file = "engine/" + name_of(0);
    const WineAnswer wine = load(file, flags, more);
    const linker::WindowsClosure reported = close_over(file, flags, preloaded);
    ++compared_;
    loaded_ += wine.loaded;
    known.compare(
        id, "verdict", reported.closure.loads() == wine.loaded && (wine.loaded || wine.error == 126),
        std::string("we say it ") + (reported.closure.loads() ? "loads" : "fails") + ", Wine: " + wine.said);
    std::set<std::string> missing;
    for (const linker::Missing& one : reported.closure.missing)
      missing.insert(to_lower(one.name) + " <- " + to_lower(one.needed_by));
    for (const linker::Rejected& one : reported.closure.rejected)
      if (one.fatal) missing.insert(to_lower(one.name) + " <- " + to_lower(one.needed_by));
    known.compare(id, "missing", missing == wine.not_found,
                  "we say [" + as_text(missing) + "], Wine [" + as_text(wine.not_found) + "]");
    std::vector<std::string> searched;
    for (const linker::WindowsPlace& place : linker::windows_places(machine_, flags, windows_path(file)))
      if (const std::string folder = to_lower(place.directory);
          std::find(searched.begin(), searched.end(), folder) == searched.end())
        searched.push_back(folder);
    for (const auto& [name, asked] : wine.searched) {
      if (!name.starts_with("enginehost")) continue;
      ++searches_;
      known.compare(id, "searched", searched == asked,
                    name + ": we say [" + join(searched, ", ") + "], Wine [" + join(asked, ", ") + "]");
    }
    if (!wine.loaded) return;
    std::set<std::string> modules;
    for (const linker::Object& one : reported.closure.objects) modules.insert(to_lower(one.path));
    const std::set<std::string> expected(wine.modules.begin(), wine.modules.end());
    modules_ += expected.size();
    known.compare(id, "modules", modules == expected,
                  "we say [" + as_text(modules) + "], Wine [" + as_text(expected) + "]");
  }

  static void clear_system_folders() {
    std::error_code ignored;
    for (unsigned number = 0; number < libraries; ++number)
      for (const fs::path& folder : {wine_system_folder(), wine_windows_folder()})
        for (const std::string& name : {name_of(number), to_upper(name_of(number))})
          fs::remove(folder / name, ignored);
  }

  std::string narrow_;
  bool preloaded_ = false;
  std::size_t compared_ = 0, loaded_ = 0, searches_ = 0, modules_ = 0;
};

TEST_F(WineAgreement, GeneratedTreesLoadFailAndSearchAlike) {
  KnownDifferences known(fs::path(source_path()) / "tests/windows/known_differences.txt");
  const bool all = std::getenv("ENGINEHOST_EXHAUSTIVE") != nullptr;
  constexpr unsigned per_shape = 10;
  const unsigned trees = all ? 60 : per_shape;
  struct Search {
    std::uint32_t flags, default_flags;
  };
  using enum linker::WindowsFlags;
  constexpr Search usual[] = {{load_flags, 0}, {altered_search_path, 0}, {0, 0}};
  constexpr Search unusual[] = {{0, search_default_dirs},
                                {0, search_system32 | search_user_dirs},
                                {altered_search_path, search_default_dirs},
                                {altered_search_path, search_system32},
                                {load_flags, search_system32},
                                {search_dll_load_dir, 0},
                                {search_dll_load_dir | search_user_dirs, 0},
                                {search_dll_load_dir | search_system32, 0},
                                {search_dll_load_dir | search_application_dir, 0}};
  for (unsigned seed = 0; seed < trees && !HasFailure(); ++seed) {
    std::mt19937 shape(seed / per_shape), random(1000 + seed);
    if (seed % per_shape == 0) make_shape(shape);
    place(random);
    describe(random);
    std::vector<Search> searches(std::begin(usual), std::end(usual));
    for (unsigned i = 0; i < 2; ++i) searches.push_back(unusual[(2 * seed + i) % std::size(unusual)]);
    for (const Search& search : searches) {
      machine_.default_flags = search.default_flags;
      compare(std::to_string(seed) + "/" + std::to_string(search.flags) + "+" +
                  std::to_string(search.default_flags),
              search.flags, known);
    }
  }
  for (const std::string& difference : known.unexplained()) ADD_FAILURE() << difference;
  for (const std::string& line : known.vanished()) ADD_FAILURE() << "no longer differs: " << line;
  // Trees that all load, or all fail, would prove little.
  EXPECT_GT(loaded_ * 8, compared_);
  EXPECT_LT(loaded_ * 8, compared_ * 7);
  std::cout << compared_ << " loads of " << trees << " trees (" << loaded_ << " succeeded, " << modules_
            << " modules), " << searches_ << " searches; " << known.explained() << " differences explained\n";
}

}  // namespace
}  // namespace enginehost::test
