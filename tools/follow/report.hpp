// The result of a run over a plan.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "tools/follow/derive.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/vetted_index.hpp"
#include "tools/follow/wheel.hpp"

namespace enginehost::follow {

enum class RowState {
  same,     // it stays, because nothing of its inputs changed
  added,    // it is new
  changed,  // it was there and is other now
  waiting,  // --check: it would be derived
  failed,   // `why`; the row stays what it was, if there was one
  held,     // a part of it is held back
  left      // --only names other versions
};
std::string_view name_of(RowState state);

struct ReportedRow {
  std::string track, version, os, arch, flavor;
  std::string name;   // the pattern of the build's id: "toy-1.0-cu*"
  std::string build;  // id; empty before it is derived
  RowState state = RowState::same;
  std::vector<Fact> facts;
  std::optional<Diagnosis> why;
  std::string proof;     // "opened, self-test, model, 2026-11-28"; empty: it is only decided
  std::string unproven;  // why a proof was tried and is not there
};

struct Report {
  std::string engine;
  std::filesystem::path manifest, facts;
  bool check = false;
  bool changed = false;  // the manifest, or with `check` it would
  std::vector<ReportedRow> rows;
  std::vector<SkippedRelease> skipped;  // held back, or left out
  std::vector<LeftOut> left_out;        // files of the index that are not used
  std::vector<std::string> dropped;     // builds that the manifest had and has no more
  std::vector<std::string> licenses;    // that are other than in the manifest before
  std::vector<Diagnosis> problems;      // of the index: EH-M20, EH-M21, and tracks that cannot be asked
  std::vector<Diagnosis> warnings;      // EH-M22
  std::vector<ReadArchive> archives;    // that something was fetched of
};

// Bytes that were fetched of all archives, and the sizes of those that were read whole.
struct ReadBytes {
  std::uint64_t fetched = 0, whole = 0;
};
ReadBytes bytes_of(const Report& report);

// The first failure of a row or of the index; nullptr if there is none.
const Diagnosis* first_failure(const Report& report);

// Returns the report for people. `with_facts`: also what was read of each new row, and where.
std::string text_of(const Report& report, bool with_facts = false);
// Returns the report as a document of format 1.
Json to_json(const Report& report);

}  // namespace enginehost::follow
