// Compares the verdict of --inspect with dlopen over the shared libraries of published wheels
// (published_libraries.txt, 1.4 GB by pip): each wheel unpacked alone, so that the libraries of the others
// are missing; all installed together; and these in a process that holds Python. A C child opens each file
// with RTLD_NOW, which --symbols foresees, and with RTLD_LAZY. Differences are listed with their reasons in
// published_libraries_differences.txt, and nothing else is listed.
#include <gmock/gmock.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "tests/faults/real_dlopen.hpp"
#include "tests/linker/known_differences.hpp"
#include "tests/preflight/agreement.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::preflight {
namespace {

namespace fs = std::filesystem;
using faults::DlopenAnswer;

struct PublishedWheel {
  std::string project, version, platform;
};

std::vector<PublishedWheel> listed_wheels() {
  std::vector<PublishedWheel> wheels;
  std::ifstream lines(test::source_path("/tests/preflight/published_libraries.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equal = line.find("=="), blank = std::min(line.find(' '), line.size());
    wheels.push_back({line.substr(0, equal), line.substr(equal + 2, blank - equal - 2),
                      blank < line.size() ? line.substr(blank + 1) : ""});
  }
  return wheels;
}

// Where pip puts a member of a wheel, below the environment.
fs::path installed_as(const fs::path& member) {
  const fs::path site_packages = "lib/python3.11/site-packages";
  auto part = member.begin();
  if (part->extension() != ".data") return site_packages / member;
  const fs::path kind = *++part;
  fs::path rest;
  while (++part != member.end()) rest /= *part;
  return kind == "data" ? rest : kind == "scripts" ? "bin" / rest : site_packages / rest;
}

bool about_symbols_alone(const Report& report) {
  return std::all_of(report.diagnoses.begin(), report.diagnoses.end(),
                     [](const Diagnosis& one) { return !one.value(Key::symbol).empty(); });
}

class PublishedLibraries : public ::testing::Test {
 protected:
  PublishedLibraries() : known_(test::source_path("/tests/preflight/published_libraries_differences.txt")) {
    machine_.program.clear();
    machine_.library_path.clear();
    machine_.library_path_text.reset();
  }

  void SetUp() override {
    const std::vector<PublishedWheel> wheels = listed_wheels();
    ASSERT_GE(wheels.size(), 30u);
    for (const PublishedWheel& wheel : wheels) {
      folders_.push_back(fetch(wheel));
      if (folders_.back().empty())
        GTEST_SKIP() << "skipped: pip cannot get " << wheel.project << " " << wheel.version << ": "
                     << why_not_;
    }
  }

  // The folder of the wheel's libraries; empty, with the reason, if pip cannot get it.
  std::string fetch(const PublishedWheel& wheel) {
    ChildRequest request;
    request.argv = {"python3", test::source_path("/tests/engines/fetch_wheel.py")};
    if (!wheel.platform.empty()) request.argv.insert(request.argv.end(), {"--platform", wheel.platform});
    for (const std::string& argument :
         {downloads_.native(), wheel.project, wheel.version, std::string("*.so"), std::string("*.so.*")})
      request.argv.push_back(argument);
    request.deadline = std::chrono::minutes(5);
    const auto ended = run_child(request);
    if (ended && ended->succeeded()) return ended->output.substr(0, ended->output.find('\n'));
    why_not_ = ended ? ended->error : "fetch_wheel.py cannot be started";
    return {};
  }

  void TearDown() override { fs::remove_all(environment_); }

  // Installs all wheels together, as links, which need the same file system.
  void install() const {
    fs::remove_all(environment_);
    for (const std::string& folder : folders_)
      for (const fs::path& file : libraries_below(folder)) {
        const fs::path installed = environment_ / installed_as(file.lexically_relative(folder));
        fs::create_directories(installed.parent_path());
        fs::remove(installed);
        fs::create_hard_link(file, installed);
      }
  }

  static std::vector<fs::path> libraries_below(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  DlopenAnswer open(const fs::path& file, bool lazy) const {
    std::vector<std::string> environment = {"LD_LIBRARY_PATH", "HOME=" + home_.path().native()};
    if (!preloaded_.empty()) environment.push_back("LD_PRELOAD=" + preloaded_);
    return faults::ask_dlopen(ENGINEHOST_OPEN_CHILD, {file}, std::chrono::seconds(60), environment, lazy);
  }

  Report inspected(const fs::path& file, bool symbols) const {
    Result<Report> report = inspect(file, symbols, machine_);
    EXPECT_TRUE(report) << file;
    return report ? std::move(*report) : Report{};
  }

  // `parent`: what the names in the list of differences begin below.
  void compare(const fs::path& folder, const fs::path& parent, const std::string& way) {
    for (const fs::path& file : libraries_below(folder)) {
      const std::string name = way + "/" + file.lexically_relative(parent).native();
      const Report with_symbols = inspected(file, true), plain = inspected(file, false);
      const DlopenAnswer now = open(file, false), lazy = open(file, true);
      ++figures_["compared"];
      if (with_symbols.verdict == Verdict::unsure) ++figures_["left to the probe"];

      const bool fails = with_symbols.verdict == Verdict::fails;
      known_.compare(name, "now", fails != now.opened(),
                     "we say " + said_by(with_symbols) + ", the loader " + now.text());
      if (fails && now.end == DlopenAnswer::End::refused)
        compare_subject(name, "now", with_symbols, now.said);
      ++figures_[now.opened() ? "opened with RTLD_NOW" : "refused with RTLD_NOW, " + class_of(with_symbols)];

      // A function that nobody offers may stay unbound with RTLD_LAZY, a variable may not. The plain check
      // leaves both to --symbols.
      const bool fails_without_symbols = plain.verdict == Verdict::fails && !about_symbols_alone(plain);
      const auto hint = explain::read_loader_text(lazy.said);
      const bool left_to_symbols = !fails_without_symbols && hint && !hint->symbol.empty();
      known_.compare(name, "lazy", fails_without_symbols != lazy.opened() || left_to_symbols,
                     "we say " + said_by(plain) + ", the loader " + lazy.text());
      if (lazy.end == DlopenAnswer::End::refused && (fails_without_symbols || left_to_symbols))
        compare_subject(name, "lazy", left_to_symbols ? with_symbols : plain, lazy.said);
      if (left_to_symbols) {
        ++figures_["refused with RTLD_LAZY for a symbol"];
        EXPECT_TRUE(plain.verdict == Verdict::fails || !plain.notes.empty())
            << name << ": no note of symbols";
      }
    }
  }

  static std::string class_of(const Report& report) {
    return report.diagnoses.empty() ? "foreseen by nothing"
                                    : std::string(report.diagnoses.front().code_text());
  }

  void compare_subject(const std::string& name, const std::string& flag, const Report& report,
                       const std::string& said) {
    const auto hint = explain::read_loader_text(said);
    known_.compare(name, flag + " subject", hint && names_subject(report, *hint),
                   "we say " + said_by(report) + ", the loader " + said);
  }

  void report(const std::string& way) {
    for (const std::string& line : known_.unexplained()) ADD_FAILURE() << line;
    const bool avx512 = (machine_.isa & 8) != 0;  // lines about code for AVX-512 need a processor without it
    for (const std::string& line : known_.vanished(true))
      if (line.starts_with(way + "/") && !(avx512 && line.find("avx512") != std::string::npos))
        ADD_FAILURE() << "listed, but explains nothing: " << line;
    EXPECT_GT(figures_["compared"], 1000u);
    EXPECT_GT(figures_["opened with RTLD_NOW"], 500u);
    for (const auto& [what, number] : figures_) std::cout << way << ", " << what << ": " << number << "\n";
    std::cout << way << ", explained differences: " << known_.explained() << "\n";
  }

  const fs::path downloads_ = test::build_path("/downloads/wheels"),
                 environment_ = downloads_ / "environment";
  const test::TemporaryFolder home_;
  linker::Machine machine_ = linker::describe_this_machine();
  test::KnownDifferences known_;
  std::map<std::string, std::size_t> figures_;
  std::string why_not_, preloaded_;
  std::vector<std::string> folders_;
};

TEST_F(PublishedLibraries, AgreeWithDlopenEachWheelAlone) {
  for (const std::string& folder : folders_) compare(folder, downloads_, "alone");
  report("alone");
}

TEST_F(PublishedLibraries, AgreeWithDlopenInstalledTogether) {
  install();
  compare(environment_, environment_, "installed");
  report("installed");
}

// A preloaded libpython offers its symbols to all, as Python's program does.
TEST_F(PublishedLibraries, AgreeWithDlopenInAProcessWithPython) {
  const auto python = machine_.cache.find("libpython3.11.so.1.0", machine_.cache_flags, {}, 0);
  if (!python) GTEST_SKIP() << "skipped: libpython3.11.so.1.0 is not installed";
  linker::Reader reader;
  linker::Request request;
  request.file = *python;
  for (const linker::Object& object : linker::close(machine_, request, reader).objects)
    machine_.loaded.push_back({object.soname, object.path, true});
  preloaded_ = *python;
  install();
  compare(environment_, environment_, "python");
  report("python");
}

}  // namespace
}  // namespace enginehost::preflight
