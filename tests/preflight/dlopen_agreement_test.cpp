// Compares the verdict of preflight, including its symbol pass, with dlopen: a small C child opens every
// shared object and program of this machine, with RTLD_NOW and RTLD_LOCAL and a timeout. Differences are
// listed with their reasons in tests/linker/known_differences.txt ("dlopen": whether it opens; "dlopen
// subject": the loader's complaint), and nothing else is listed. Every eighth file; all with
// ENGINEHOST_EXHAUSTIVE set.
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/environment.hpp"
#include "tests/faults/real_dlopen.hpp"
#include "tests/linker/known_differences.hpp"
#include "tests/linker/machine_libraries.hpp"
#include "tests/preflight/agreement.hpp"
#include "tests/preflight/helpers.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::preflight {
namespace {

using faults::DlopenAnswer;

class DlopenAgreement : public ::testing::Test {
 protected:
  // Files of the machine do not change the child's search, but a variable of this session would.
  static DlopenAnswer opened_by_loader(const std::string& file) {
    return faults::ask_dlopen(ENGINEHOST_OPEN_CHILD, {file}, std::chrono::seconds(20), {"LD_LIBRARY_PATH"});
  }
};

TEST_F(DlopenAgreement, PreflightAndDlopenAgreeOnEverySharedObject) {
  const std::size_t step = environment_variable("ENGINEHOST_EXHAUSTIVE") ? 1 : 8;
  test::KnownDifferences known(std::filesystem::path(test::source_path()) /
                               "tests/linker/known_differences.txt");
  linker::Machine machine = linker::describe_this_machine();
  machine.program.clear();
  machine.library_path.clear();
  machine.library_path_text.reset();
  const std::vector<std::string> files = test::machine_libraries();
  std::size_t compared = 0, opened = 0, refused = 0, unsure = 0;
  std::map<std::string, std::size_t> classes;
  for (std::size_t i = 0; i < files.size(); i += step) {
#ifdef __SANITIZE_ADDRESS__
    // The child of this build has a sanitizer's runtime, and a second one ends it.
    if (files[i].find("/libclang_rt.") != std::string::npos) continue;
#endif
    Spec spec = alone(files[i]);
    spec.machine = machine;
    spec.symbols = true;
    const Report report = check(spec);
    const DlopenAnswer answer = opened_by_loader(files[i]);
    ++compared;
    unsure += report.verdict == Verdict::unsure ? 1u : 0u;
    const bool refused_before = report.verdict == Verdict::fails;
    known.compare(files[i], "dlopen", refused_before != answer.opened(),
                  "we say " + said_by(report) + ", the loader " + answer.text());
    opened += answer.opened() ? 1u : 0u;
    if (answer.said.find("static TLS block") != std::string::npos) {
      EXPECT_NE(find(report.diagnoses, "EH-L19"), nullptr) << files[i] << ": not even a doubt";
    }
    if (!refused_before || answer.end != DlopenAnswer::End::refused) continue;
    ++refused;
    ++classes[std::string(report.diagnoses.front().code_text())];
    const auto hint = explain::read_loader_text(answer.said);
    known.compare(files[i], "dlopen subject", hint && names_subject(report, *hint),
                  "we say " + said_by(report) + ", the loader " + answer.said);
  }
  for (const std::string& line : known.unexplained()) ADD_FAILURE() << line;
  if (step == 1)
    for (const std::string& line : known.vanished()) ADD_FAILURE() << "listed, but does not differ: " << line;
  EXPECT_GT(opened, 20u);
  EXPECT_GT(refused, 20u);
  std::ostringstream figures;
  figures << "| shared objects and programs | number |\n|---|---|\n| compared | " << compared
          << " |\n| opened by the loader | " << opened << " |\n| refused by both, with the same subject | "
          << refused << " (";
  std::string separator;
  for (const auto& [code, number] : classes) {
    figures << separator << code << " " << number;
    separator = ", ";
  }
  figures << ") |\n| left to the probe | " << unsure << " |\n| explained differences | " << known.explained()
          << " |\n";
  std::cout << figures.str();
  if (const auto folder = environment_variable("ENGINEHOST_FIGURES"))
    std::ofstream(std::filesystem::path(*folder) / "dlopen-agreement.md") << figures.str();
}

}  // namespace
}  // namespace enginehost::preflight
