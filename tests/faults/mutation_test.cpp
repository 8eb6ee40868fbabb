// Real libraries with 1 to 3 bytes changed, each checked before loading, opened by the machine's own loader
// in a child, and loaded by the probe. A change that ends or stops the loader must be reported before loading
// or by the probe, with a class and a file. This process must survive all of them, and the store's digests
// must notice every change, also the many that no loader notices. Each mutant follows from a seed and its
// number and can be made again:
//   ENGINEHOST_MUTATION_SEED   another seed
//   ENGINEHOST_MUTANT          the number of the only mutant to try
//   ENGINEHOST_MUTANTS         their number (300; 5000 with ENGINEHOST_EXHAUSTIVE set)
//   ENGINEHOST_FIGURES         a folder for mutation.md, the table of results
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/load/probe_outcome.hpp"
#include "tests/faults/real_dlopen.hpp"
#include "tests/faults/victims.hpp"

namespace enginehost::faults {
namespace {

using Clock = std::chrono::steady_clock;
using preflight::Verdict;

constexpr std::chrono::milliseconds deadline{5000};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const auto text = environment_variable(variable);
  const auto number = text ? parse_integer(*text) : std::nullopt;
  return number ? static_cast<std::uint64_t>(*number) : otherwise;
}

// The reason why a diagnosis explains nothing; empty: it explains the failure.
std::string unexplained(const Diagnosis& diagnosis, const Victim& victim) {
  const explain::Entry* entry = explain::find(diagnosis.code);
  if (entry == nullptr) return "no such class";
  if (entry->exit_status == explain::ExitStatus::bug) return "reported as an internal error";
  if (diagnosis.code == "EH-P20") return "the probe is blamed";
  if (!diagnosis.value(Key::file).starts_with(victim.spec.view.native()))
    return "no file of the build is named";
  const explain::Rendered shown = explain::render(diagnosis);
  if (shown.cause.empty()) return "no cause";
  if (shown.remedy.empty()) return "no remedy";
  return {};
}

struct Tally {
  unsigned mutants = 0;
  unsigned stopped = 0, refused = 0, killed = 0, ended = 0, hung = 0;  // by the loader itself
  unsigned reported_before = 0, reported_by_probe = 0;                 // of the stopped ones
  unsigned opened = 0, warned = 0, failed_in_probe = 0, passed = 0;    // of those that the loader opened
  unsigned noticed_by_digest = 0;
  unsigned wavering = 0;  // the answer differed between runs, because damaged addresses differ
  void add(const Tally& other) {
    const auto all = {&Tally::mutants,
                      &Tally::stopped,
                      &Tally::refused,
                      &Tally::killed,
                      &Tally::ended,
                      &Tally::hung,
                      &Tally::reported_before,
                      &Tally::reported_by_probe,
                      &Tally::opened,
                      &Tally::warned,
                      &Tally::failed_in_probe,
                      &Tally::passed,
                      &Tally::noticed_by_digest,
                      &Tally::wavering};
    for (unsigned Tally::*count : all) this->*count += other.*count;
  }
};

class Mutation : public ::testing::Test {
 protected:
  struct Probed {
    bool passed = false;
    std::optional<Diagnosis> diagnosis;
  };
  // As host/open does it: after the static check, which need not have found anything here.
  Probed probed(const Victim& victim, const std::vector<std::filesystem::path>& load_order) {
    load::ProbeRequest request = Victims::probe_request(victim, load_order);
    request.deadline = deadline;
    load::ProbeResult result = load::probe(request);
    Probed probed{result.passed, std::nullopt};
    if (!result.passed) probed.diagnosis = load::recheck(std::move(*result.diagnosis), victim.spec);
    return probed;
  }

  void count(const DlopenAnswer& answer, Tally& tally) {
    using End = DlopenAnswer::End;
    tally.opened += answer.opened() ? 1u : 0u;
    tally.stopped += answer.opened() ? 0u : 1u;
    tally.refused += answer.end == End::refused ? 1u : 0u;
    tally.killed += answer.end == End::killed ? 1u : 0u;
    tally.ended += answer.end == End::ended ? 1u : 0u;
    tally.hung += answer.end == End::hung ? 1u : 0u;
  }

  // Runs one mutant through all checks; returns a wrong report, or nothing.
  std::string judge(const Victim& victim, Tally& tally) {
    ++tally.mutants;
    const auto begin = Clock::now();
    const preflight::Report report = preflight::check(victim.spec);
    slowest_check_ = std::max(slowest_check_, std::chrono::duration<double>(Clock::now() - begin).count());
    DlopenAnswer loader = ask_dlopen(ENGINEHOST_OPEN_CHILD, victim.opened, deadline);
    const bool refused_before = report.verdict == Verdict::fails;
    Probed probe = probed(victim, refused_before ? victim.load_order : report.load_order);
    // The kernel decides by chance whether a damaged address is mapped, so the worst answer of a few runs
    // counts for both.
    for (int again = 0; again < 4 && !loader.opened() && !refused_before && probe.passed; ++again) {
      probe = probed(victim, report.load_order);
      const DlopenAnswer other = ask_dlopen(ENGINEHOST_OPEN_CHILD, victim.opened, deadline);
      if (!other.opened() && !probe.passed) break;
      if (!other.opened()) continue;
      ++tally.wavering;
      loader = other;
    }
    count(loader, tally);
    const auto problems = store().verify(victim.name, true);
    if (!problems || problems->empty()) return "the store did not notice the change";
    ++tally.noticed_by_digest;
    if (refused_before) {
      ++stages_["before loading"][std::string(report.diagnoses.front().code_text())];
      const std::string why = unexplained(report.diagnoses.front(), victim);
      if (!why.empty()) return "before: " + std::string(report.diagnoses.front().code_text()) + ": " + why;
    } else if (!probe.passed) {
      ++stages_["in the probe"][std::string(probe.diagnosis->code_text())];
    }
    if (!probe.passed)
      if (const std::string why = unexplained(*probe.diagnosis, victim); !why.empty())
        return "probe: " + std::string(probe.diagnosis->code_text()) + ": " + why + "\n" +
               explain::describe(*probe.diagnosis);
    if (loader.opened()) {
      tally.warned += refused_before ? 1u : 0u;
      tally.failed_in_probe += !refused_before && !probe.passed ? 1u : 0u;
      tally.passed += !refused_before && probe.passed ? 1u : 0u;
      if (refused_before && probe.passed) ++strict_[std::string(report.diagnoses.front().code_text())];
      return {};
    }
    tally.reported_before += refused_before ? 1u : 0u;
    tally.reported_by_probe += !refused_before && !probe.passed ? 1u : 0u;
    if (!refused_before && probe.passed) return "nothing reported that the loader " + loader.text();
    return {};
  }

  cache::Store& store() { return victims_.store(); }

  Victims victims_;
  std::map<std::string, std::map<std::string, unsigned>> stages_;  // stage -> class -> how many
  std::map<std::string, unsigned> strict_;  // reported before, although loader and probe accepted it
  double slowest_check_ = 0;
};

std::string row(const std::string& name, const Tally& tally) {
  std::ostringstream line;
  line << "| " << name << " | " << tally.mutants << " | " << tally.stopped << " (" << tally.refused << ", "
       << tally.killed << ", " << tally.ended << ", " << tally.hung << ") | " << tally.reported_before
       << " | " << tally.reported_by_probe << " | " << tally.opened << " | " << tally.warned << " | "
       << tally.failed_in_probe << " | " << tally.passed << " | " << tally.noticed_by_digest << " |\n";
  return line.str();
}

std::string classes(const std::map<std::string, unsigned>& pluralize) {
  std::vector<std::string> all;
  for (const auto& [code, number] : pluralize) all.push_back(code + " " + std::to_string(number));
  return join(all, ", ");
}

TEST_F(Mutation, LoaderFailuresAreReportedAndEveryChangeIsNoticed) {
  const bool exhaustive = environment_variable("ENGINEHOST_EXHAUSTIVE").has_value();
  const std::uint64_t seed = number_from("ENGINEHOST_MUTATION_SEED", 20261121);
  const std::uint64_t mutants = number_from("ENGINEHOST_MUTANTS", exhaustive ? 5000 : 300);
  const auto only = environment_variable("ENGINEHOST_MUTANT");
  // Each unchanged victim opens, passes and matches the store; otherwise nothing below means anything.
  for (const Victim& victim : victims_.all()) {
    ASSERT_EQ(preflight::check(victim.spec).diagnoses.size(), 0u) << victim.name;
    const DlopenAnswer loader = ask_dlopen(ENGINEHOST_OPEN_CHILD, victim.opened, deadline);
    ASSERT_TRUE(loader.opened()) << victim.name << ": " << loader.text();
    const Probed probe = probed(victim, victim.load_order);
    ASSERT_TRUE(probe.passed) << victim.name << ": " << explain::describe(*probe.diagnosis);
    ASSERT_TRUE(store().verify(victim.name, true)->empty()) << victim.name;
  }
  std::cout << "seed " << seed
            << ", left out: " << (victims_.left_out().empty() ? "nothing" : join(victims_.left_out(), ", "))
            << "\n";
  std::map<std::string, Tally> by_region, by_victim;
  const auto begin = Clock::now();
  for (std::uint64_t i = 0; i < mutants; ++i) {
    if (only && std::to_string(i) != *only) continue;
    std::mt19937_64 random(seed * 1'000'003 + i);
    const Victim& victim = victims_.all()[i % victims_.all().size()];
    const Victim::File& file = victim.files[random() % victim.files.size()];
    const Mutant mutant(file.path, file.regions, random);
    Tally tally;
    const std::string wrong = judge(victim, tally);
    by_region[mutant.region()].add(tally);
    by_victim[victim.name].add(tally);
    if (!wrong.empty())
      ADD_FAILURE() << "mutant " << i << " of " << victim.name << ", " << mutant.text() << "\n" << wrong;
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  // Restored, every file matches the store: only the changes were counted.
  Tally sum;
  for (const Victim& victim : victims_.all()) {
    EXPECT_TRUE(store().verify(victim.name, true)->empty()) << victim.name;
    sum.add(by_victim[victim.name]);
  }
  EXPECT_EQ(sum.noticed_by_digest, sum.mutants);
  EXPECT_EQ(sum.reported_before + sum.reported_by_probe, sum.stopped);
  EXPECT_LT(slowest_check_, 5.0) << "damage may not make the static check endless";
  if (!only) {
    EXPECT_GT(sum.stopped, mutants / 10);
    EXPECT_GT(sum.passed, mutants / 10);
  }
  std::ostringstream page;
  page << "| | mutants | stopped the loader (refused, killed, ended, hung) | reported before loading | "
          "reported by the probe | opened by the loader | reported although opened | failed in the probe | "
          "passed | found by the digest |\n"
          "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, tally] : by_victim) page << row(name, tally);
  for (const auto& [name, tally] : by_region) page << row("in " + name, tally);
  page << row("**all**", sum) << "\nSeed " << seed << ". " << sum.wavering
       << " answers differed from run to run.\n\n"
          "| reported | failure codes, and how often each |\n"
          "|---|---|\n"
          "| before loading | "
       << classes(stages_["before loading"]) << " |\n| in the probe | " << classes(stages_["in the probe"])
       << " |\n| before loading, although the loader and the self-test accepted the file | "
       << classes(strict_) << " |\n";
  std::cout << page.str() << seconds << " s, slowest check " << slowest_check_ << " s\n";
  if (const auto folder = environment_variable("ENGINEHOST_FIGURES"))
    std::ofstream(std::filesystem::path(*folder) / "mutation.md") << page.str();
}

}  // namespace
}  // namespace enginehost::faults
