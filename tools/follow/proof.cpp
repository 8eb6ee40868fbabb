#include "tools/follow/proof.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "tools/follow/memory.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_proofs = 8u << 20;
// A CUDA build of several GB is downloaded and opened in it.
constexpr std::chrono::milliseconds longest_proof = std::chrono::hours(2);

fs::path file_of_proofs(const Plan& plan) {
  return memory_folder(plan.facts) / path_of(plan.engine + "-proofs.json");
}

// Proofs by id of the build. A file that cannot be read holds none: the builds are proven again.
Json read_proofs(const Plan& plan) {
  const auto text = read_file(file_of_proofs(plan), largest_proofs);
  if (!text) return Json::object();
  const auto document = parse_json(*text, "proofs");
  return document && (*document)["builds"].is_object() ? (*document)["builds"] : Json::object();
}

std::string words_of(const Json& proof) {
  std::string words;
  for (const Json& one : proof["done"].as_array()) words += one.as_string() + ", ";
  return words + proof["date"].as_string();
}

std::string digest_in(const Memory& memory, const std::string& build) {
  const auto row = memory.rows.find(build);
  return row == memory.rows.end() ? std::string() : row->second.row;
}

struct Ended {
  int status = 0;
  Json document;
};

// Proves builds one after the other.
class Prover {
 public:
  Prover(const Plan& plan, const ProofRequest& request, fs::path cache)
      : plan_(plan), request_(request), cache_(std::move(cache)) {}

  // Returns what was done; nothing, and `why`, if the build is not proven.
  Result<std::optional<std::vector<std::string>>> prove(const ReportedRow& row, std::string& why);

 private:
  Result<Ended> run(const std::string& program, std::vector<std::string> arguments) const;
  static std::string reason_in(const Json& document);

  const Plan& plan_;
  const ProofRequest& request_;
  const fs::path cache_;
};

Result<Ended> Prover::run(const std::string& program, std::vector<std::string> arguments) const {
  ChildRequest child;
  child.argv = {path_text(request_.programs / path_of(program))};
  for (const char* const flag : {"--json", "--quiet", "--yes"}) arguments.push_back(flag);
  arguments.insert(arguments.end(), {"--cache", path_text(cache_), "--repository", request_.repository});
  if (!request_.package_index.empty())
    arguments.insert(arguments.end(), {"--package-index", request_.package_index});
  child.argv.insert(child.argv.end(), arguments.begin(), arguments.end());
  child.deadline = longest_proof;
  child.output_bytes = largest_proofs;
  child.cancel = request_.cancel;
  TRY_ASSIGN(const ChildOutcome outcome, run_child(child));
  if (outcome.canceled) return fail(diagnose(Code::canceled));
  Ended ended;
  ended.status = outcome.exit_code;
  if (auto document = parse_json(outcome.output, program)) ended.document = std::move(*document);
  return ended;
}

std::string Prover::reason_in(const Json& document) {
  const Json& diagnosis = document["diagnosis"];
  const std::string& cause = diagnosis["cause"].as_string();
  if (!diagnosis.is_object()) return "it ended without a report";
  return diagnosis["code"].as_string() + (cause.empty() ? "" : ": " + cause);
}

Result<std::optional<std::vector<std::string>>> Prover::prove(const ReportedRow& row, std::string& why) {
  const std::string asked = plan_.engine + "@==" + row.version;
  TRY_ASSIGN(const Ended plan, run("engine-info", {asked, "--plan"}));
  const Json* found = nullptr;
  for (const Json& candidate : plan.document["candidates"].as_array())
    if (candidate["build"].as_string() == row.build) found = &candidate;
  if (found == nullptr || (*found)["rank"].as_integer() == 0) {
    why = found == nullptr ? request_.repository + " does not list it" : "it does not fit this machine";
    return std::nullopt;
  }
  std::vector<std::string> done;
  TRY_ASSIGN(const Ended opened, run("engine-info", {asked, "--force", row.build, "--self-test"}));
  const Json& outcome = opened.document["outcome"];
  if (outcome["state"].as_string() != "opened" || outcome["build"].as_string() != row.build) {
    why = "it was not opened: " + reason_in(opened.document);
    return std::nullopt;
  }
  done.emplace_back("opened");
  if (!opened.document["self_test"]["passed"].as_bool()) {
    why = "its self-test did not pass: " + reason_in(opened.document);
    return std::nullopt;
  }
  done.emplace_back("self-test");
  for (const std::vector<std::string>& model : plan_.models) {
    std::vector<std::string> arguments = {asked};
    for (std::string argument : model) {
      if (const std::size_t at = argument.find("{folder}"); at != std::string::npos)
        argument.replace(at, 8, path_text(plan_.file.parent_path()));
      arguments.push_back(std::move(argument));
    }
    const std::string name = model.empty() ? "" : path_text(path_of(model.front()).filename());
    arguments.insert(arguments.end(), {"--force", row.build});
    TRY_ASSIGN(const Ended ran, run("engine-run", std::move(arguments)));
    if (ran.status != 0) {
      why = "it did not run " + name + ": " + reason_in(ran.document);
      return std::nullopt;
    }
    done.push_back(name);
  }
  return std::optional(std::move(done));
}

Result<void> prove_rows(const Plan& plan, Report& report, const ProofRequest& request,
                        const fs::path& cache) {
  TRY_ASSIGN(const Memory memory, read_memory(plan.facts, plan.engine));
  Prover prover(plan, request, cache);
  Json proofs = read_proofs(plan);
  for (ReportedRow& row : report.rows) {
    const bool is_written = row.state != RowState::failed && row.state != RowState::held;
    if (row.build.empty() || !is_written || !row.proof.empty()) continue;
    if (request.step) request.step(row.build);
    TRY_ASSIGN(auto done, prover.prove(row, row.unproven));
    if (!done) continue;
    const Json proof = Json::object()
                           .set("row", digest_in(memory, row.build))
                           .set("date", text_of_time(request.now).substr(0, 10))
                           .set("done", Json::strings(*done));
    proofs.set(row.build, proof);
    TRY(write_file(file_of_proofs(plan),
                   Json::object().set("format", 1).set("builds", proofs).dump(1) + "\n"));
    row.proof = words_of(proof);
  }
  return {};
}

}  // namespace

void add_known_proofs(const Plan& plan, Report& report) {
  const auto memory = read_memory(plan.facts, plan.engine);
  if (!memory) return;
  const Json proofs = read_proofs(plan);
  for (ReportedRow& row : report.rows)
    if (const Json* const proof = proofs.find(row.build);
        proof != nullptr && (*proof)["row"].as_string() == digest_in(*memory, row.build))
      row.proof = words_of(*proof);
}

Result<void> prove(const Plan& plan, Report& report, const ProofRequest& request) {
  TRY(make_folders(memory_folder(plan.facts)));
  TRY_ASSIGN(const fs::path cache, make_private_folder(memory_folder(plan.facts), plan.engine + ".proof-"));
  const auto done = prove_rows(plan, report, request, cache);
  std::error_code error;
  remove_tree(cache, error);
  return done;
}

}  // namespace enginehost::follow
