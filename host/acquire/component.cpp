#include "host/acquire/component.hpp"

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/artifact_installer.hpp"

namespace enginehost::acquire {
namespace {

using Phase = transfer::Progress::Phase;

bool is_wrong_bytes(const std::string& code) {
  return code == "EH-N06" || code == "EH-N07" || code == "EH-N08" || code == "EH-N33";
}
// Sources that were not asked at all.
bool is_skipped(const std::string& code) { return code == "EH-N10" || code == "EH-N12" || code == "EH-N16"; }

// Returns the failure that decides the diagnosis, with every source and its own failure.
Diagnosis all_failed(const manifest::Component& component, const std::vector<Failure>& failures) {
  const Failure* decisive = nullptr;
  for (const Failure& failure : failures)
    if (!is_skipped(failure.diagnosis.code) && !is_forbidden(failure.diagnosis.code) &&
        !is_wrong_bytes(failure.diagnosis.code) && decisive == nullptr)
      decisive = &failure;
  for (const Failure& failure : failures)
    if (is_wrong_bytes(failure.diagnosis.code) && decisive == nullptr) decisive = &failure;
  for (const Failure& failure : failures)
    if (is_forbidden(failure.diagnosis.code) && decisive == nullptr) decisive = &failure;
  if (decisive == nullptr) decisive = &failures.front();
  Diagnosis diagnosis = decisive->diagnosis;
  diagnosis.with("component", component.id);
  for (const Failure& failure : failures)
    diagnosis.with("source_tried", failure.source, failure.diagnosis.code);
  return diagnosis;
}

}  // namespace

const manifest::Artifact* first_usable(const manifest::Component& component) {
  for (const manifest::Artifact& artifact : component.artifacts)
    if (!artifact.sha256.empty() && !artifact.sources.empty()) return &artifact;
  return nullptr;
}

std::string archive_key(const manifest::Artifact& artifact) {
  std::string text = artifact.sha256 + '\n' + artifact.archive + '\n' + artifact.path + '\n' +
                     std::to_string(artifact.strip) + '\n' + join(artifact.select, "\n");
  return sha256_hex(text);
}

std::optional<std::string> installed_tree(const manifest::Component& component, const cache::Store& store) {
  for (const manifest::Artifact& artifact : component.artifacts) {
    if (!artifact.tree.empty() && store.has_tree(artifact.tree)) return artifact.tree;
    if (auto known = store.tree_of(archive_key(artifact))) return known;
  }
  return {};
}

cache::WaitOptions waiting(const transfer::ProgressCallback& progress,
                           const std::optional<CancelToken>& cancel) {
  cache::WaitOptions wait;
  wait.cancel = cancel;
  wait.on_wait = [progress](const cache::LockHolder& holder) {
    if (!progress) return;
    transfer::Progress now{Phase::waiting, holder.done, {}, 0, "process " + std::to_string(holder.pid)};
    if (holder.pid == 0)
      now.source = "the process that holds " + path_text(holder.file);
    else if (!holder.program.empty())
      now.source += " (" + holder.program + ")";
    if (holder.total != 0) now.total = holder.total;
    progress(now);
  };
  return wait;
}

cache::WaitOptions waiting(const ComponentWork& work) {
  cache::WaitOptions wait = waiting(work.progress, work.cancel);
  wait.patience = work.options.lock_patience;
  return wait;
}

Result<std::string> acquire_component(const manifest::Component& component, ComponentWork& work) {
  if (auto known = installed_tree(component, work.store)) return *known;
  std::vector<Failure> failures;
  std::optional<Diagnosis> bad_archive;
  for (const manifest::Artifact& artifact : component.artifacts) {
    if (!is_sha256_hex(artifact.sha256) || !is_known_archive(artifact.archive)) continue;
    ArtifactInstaller installer(component, artifact, work);
    auto tree = installer.run(failures);
    if (tree) {
      for (Failure& failure : failures)
        work.acquired.warnings.push_back(std::move(failure.diagnosis.with("component", component.id)));
      work.before += installer.size();
      return tree;
    }
    Diagnosis& diagnosis = tree.error();
    if (diagnosis.code == "EH-N15") continue;  // its failures are noted
    diagnosis.with("component", component.id);
    if (diagnosis.code != "EH-F19" && diagnosis.code != "EH-F21") return tree;
    if (!bad_archive) bad_archive = std::move(diagnosis.with("sha256", artifact.sha256, "manifest"));
  }
  if (bad_archive) return fail(std::move(*bad_archive));
  if (!failures.empty()) return fail(all_failed(component, failures));
  return fail(diagnose("EH-N15").with("component", component.id).with("build", work.build.id));
}

}  // namespace enginehost::acquire
