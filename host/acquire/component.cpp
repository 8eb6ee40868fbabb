#include "host/acquire/component.hpp"

#include <algorithm>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/chunks.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/registry_sources.hpp"
#include "host/acquire/unpacking.hpp"
#include "host/transfer/download.hpp"
#include "host/transfer/package_index.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;
using Phase = transfer::Progress::Phase;

struct Failure {
  std::string source;
  Diagnosis diagnosis;
};

bool is_wrong_bytes(const std::string& code) {
  return code == "EH-N06" || code == "EH-N07" || code == "EH-N08" || code == "EH-N33";
}
// Sources that were not asked at all.
bool is_skipped(const std::string& code) { return code == "EH-N10" || code == "EH-N12" || code == "EH-N16"; }
// A host that policy forbids was not asked either.
bool is_forbidden(const std::string& code) { return code == "EH-P01"; }
// Installs one artifact under its lock.
class ArtifactInstaller {
 public:
  ArtifactInstaller(const manifest::Component& component, const manifest::Artifact& artifact,
                    ComponentWork& work)
      : component_(component), artifact_(artifact), work_(work) {}

  Result<std::string> run(std::vector<Failure>& failures);

 private:
  // Sources that are asked together: adjacent URLs, or one source of any other kind.
  using Group = std::vector<const manifest::Source*>;
  // The origin of received bytes.
  struct Delivery {
    std::string where;
    Group from;
  };
  std::vector<Group> groups() const;
  bool is_mirror(const manifest::Source& source) const;
  Result<std::string> from_group(Group group, std::vector<Failure>& failures);
  Result<Delivery> fetch(const Group& group, GrowingFile& file, std::vector<transfer::MirrorFailure>& left);
  Result<Delivery> fetch_alone(const manifest::Source& source, GrowingFile& file);
  Result<Delivery> fetch_from(const std::string& where, const transfer::TransferOptions& options,
                              GrowingFile& file);
  Result<Delivery> fetch_package(const Group& group, GrowingFile& file,
                                 std::vector<transfer::MirrorFailure>& left);
  Delivery delivered(const transfer::TransferReport& report);
  std::string url_of(const manifest::Source& source) const;
  Result<UnpackedTree> finish_unpacking(Unpacking& unpacking, GrowingFile& file);
  Result<std::string> publish(UnpackedTree tree, GrowingFile& file);
  Diagnosis wrong_digest(const std::string& actual, const GrowingFile& file, const std::string& where) const;
  void report(Phase phase, std::uint64_t done, double rate, const std::string& source);
  // Bytes are unpacked while they arrive, before their digest is known. A manifest that names the files
  // bounds them.
  cache::TreeLimits limits() const {
    const cache::TreeLimits most{work_.options.unpacked_limit, 200'000};
    if (artifact_.files.empty()) return most;
    std::uint64_t bytes = 0;
    for (const cache::TreeEntry& file : artifact_.files) bytes += file.size;
    return {std::min(most.bytes, bytes), artifact_.files.size()};
  }
  fs::path folder() const { return stage_->folder() / "tree"; }

  const manifest::Component& component_;
  const manifest::Artifact& artifact_;
  ComponentWork& work_;
  std::optional<cache::Stage> stage_;
  const std::vector<manifest::Source> sources_ =
      with_registry_mirrors(artifact_.sources, work_.options.transfer);
  const transfer::ProgressCallback progress_ = [this](const transfer::Progress& now) {
    report(now.phase, now.done, now.bytes_per_second, now.source);
  };
};

void ArtifactInstaller::report(Phase phase, std::uint64_t done, double rate, const std::string& source) {
  const std::uint64_t all = work_.before + done;
  stage_->report_progress(all, work_.total.value_or(0));
  if (work_.stage != nullptr) work_.stage->report_progress(all, work_.total.value_or(0));
  if (!work_.progress) return;
  work_.progress({phase, all, work_.total, rate, source});
}

ArtifactInstaller::Delivery ArtifactInstaller::delivered(const transfer::TransferReport& report) {
  work_.acquired.downloaded += report.received;
  return {report.url, {}};
}

std::string ArtifactInstaller::url_of(const manifest::Source& source) const {
  return source.kind == manifest::Source::Kind::file ? resolve_file_source(source, work_.build)
                                                     : source.location;
}

// Returns true if the source can share a download with others: the size is known and it is a URL.
bool ArtifactInstaller::is_mirror(const manifest::Source& source) const {
  const bool by_url =
      source.kind == manifest::Source::Kind::url || source.kind == manifest::Source::Kind::file;
  return by_url && artifact_.size.value_or(0) > 0 && transfer::is_url(url_of(source));
}

std::vector<ArtifactInstaller::Group> ArtifactInstaller::groups() const {
  std::vector<Group> result;
  bool mirrors = false;
  for (const manifest::Source& source : sources_) {
    const bool mirror = is_mirror(source);
    if (!mirror || !mirrors) result.emplace_back();
    result.back().push_back(&source);
    mirrors = mirror;
  }
  return result;
}

Result<ArtifactInstaller::Delivery> ArtifactInstaller::fetch_from(const std::string& where,
                                                                  const transfer::TransferOptions& options,
                                                                  GrowingFile& file) {
  if (!transfer::is_url(where))
    return transfer::fetch_file(path_of(where), artifact_.size, file, progress_, work_.cancel)
        .map([this](const auto& report) { return delivered(report); });
  transfer::UrlRequest request;
  request.url = where;
  request.expected_size = artifact_.size;
  request.limit = work_.options.download_limit;
  return transfer::fetch_url(request, file, options, progress_, work_.cancel).map([this](const auto& report) {
    return delivered(report);
  });
}

Result<ArtifactInstaller::Delivery> ArtifactInstaller::fetch_alone(const manifest::Source& source,
                                                                   GrowingFile& file) {
  switch (source.kind) {
    case manifest::Source::Kind::url:
    case manifest::Source::Kind::file:
      if (auto outside = outside_of_repository(source, work_.build)) return fail(std::move(*outside));
      return fetch_from(url_of(source), work_.options.transfer, file);
    case manifest::Source::Kind::package_index:
      break;  // see fetch_package()
    case manifest::Source::Kind::oci:
      report(Phase::asking, 0, 0, source.text());
      return oci::fetch(source.location, wanted_of(artifact_, work_.build, work_.options), file,
                        work_.options.transfer, progress_, work_.cancel)
          .map([this](const auto& report) { return delivered(report); });
  }
  return fail(diagnose("EH-N16").with("source", source.text()).with("kind", "unknown"));
}

// A file of known size comes in parallel parts, as from a URL of the manifest.
Result<ArtifactInstaller::Delivery> ArtifactInstaller::fetch_package(
    const Group& group, GrowingFile& file, std::vector<transfer::MirrorFailure>& left) {
  const manifest::Source& source = *group.front();
  report(Phase::asking, 0, 0, source.text());
  TRY_ASSIGN(const transfer::PackageFile found,
             transfer::locate_package(source.project, source.file, artifact_.sha256, work_.options.transfer,
                                      work_.cancel));
  if (found.url.empty() || artifact_.size.value_or(0) == 0)
    return fetch_from(found.url.empty() ? path_text(found.path) : found.url, found.options, file);
  transfer::DownloadRequest request;
  request.size = *artifact_.size;
  request.mirrors.push_back({found.url, {}, {}});
  return transfer::download(request, file, found.options, left, progress_, work_.cancel)
      .map([this](const transfer::DownloadReport& report) {
        work_.acquired.downloaded += report.received;
        return Delivery{report.url, {}};
      });
}

Result<ArtifactInstaller::Delivery> ArtifactInstaller::fetch(const Group& group, GrowingFile& file,
                                                             std::vector<transfer::MirrorFailure>& left) {
  if (!is_mirror(*group.front())) {
    const bool is_package = group.front()->kind == manifest::Source::Kind::package_index;
    TRY_ASSIGN(Delivery delivery,
               is_package ? fetch_package(group, file, left) : fetch_alone(*group.front(), file));
    delivery.from = group;
    return delivery;
  }
  transfer::DownloadRequest request;
  request.size = *artifact_.size;
  for (const manifest::Source* source : group) request.mirrors.push_back({url_of(*source), {}, {}});
  TRY_ASSIGN(transfer::DownloadReport report,
             transfer::download(request, file, work_.options.transfer, left, progress_, work_.cancel));
  work_.acquired.downloaded += report.received;
  Delivery delivery{std::move(report.url), {}};
  for (const std::size_t place : report.contributors) delivery.from.push_back(group[place]);
  return delivery;
}

Diagnosis ArtifactInstaller::wrong_digest(const std::string& actual, const GrowingFile& file,
                                          const std::string& where) const {
  const auto title = transfer::title_of_page(file.head(4096));
  Diagnosis diagnosis = diagnose(title ? "EH-N06" : "EH-N08");
  diagnosis.with("url", where)
      .with("expected_sha256", artifact_.sha256, "manifest")
      .with("actual_sha256", actual);
  if (title) diagnosis.with("title", *title, "the first bytes");
  diagnosis.with("actual", std::to_string(file.held()));
  return diagnosis;
}

Result<UnpackedTree> ArtifactInstaller::finish_unpacking(Unpacking& unpacking, GrowingFile& file) {
  while (!unpacking.wait(std::chrono::milliseconds(100)))
    report(Phase::unpacking, unpacking.position(), 0, component_.id);
  auto tree = unpacking.outcome();
  // Some zip archives (stored entries whose size follows the data) can only be read from their directory.
  if (!tree && artifact_.archive == "zip" && tree.error().code == "EH-F21")
    return unpack_into(artifact_, file, true, folder(), limits(), work_.cancel);
  return tree;
}

Result<std::string> ArtifactInstaller::publish(UnpackedTree tree, GrowingFile& file) {
  report(Phase::checking, file.held(), 0, component_.id);
  TRY(check_unpacked(artifact_, tree, file, folder()));
  report(Phase::publishing, file.held(), 0, component_.id);
  TRY_ASSIGN(const cache::TreeList list, tree.writer.finish());
  if (const std::string actual = list.id(); !artifact_.tree.empty() && actual != artifact_.tree)
    return fail(diagnose("EH-F21")
                    .with("archive", artifact_.archive)
                    .with("problem", "it does not unpack to the tree that the manifest names")
                    .with("expected_tree", artifact_.tree, "manifest")
                    .with("actual_tree", actual));
  return work_.store.publish_tree(list, folder(), archive_key(artifact_));
}

// Wrong bytes from several mirrors blame none of them; each is then asked alone.
Result<std::string> ArtifactInstaller::from_group(Group group, std::vector<Failure>& failures) {
  const fs::path partial = work_.store.partial(artifact_.sha256, *stage_);
  TRY_ASSIGN(const std::optional<transfer::ChunkList> chunks, chunk_list_for(artifact_, work_));
  bool alone = false;
  // The number of sources when bytes of an earlier run were last dropped. Once per source is enough.
  std::size_t refetched = group.size() + 1;
  // Keeps the last diagnosis of each source.
  const auto note = [&](const manifest::Source& source, Diagnosis diagnosis) {
    std::erase_if(failures, [&](const Failure& known) { return known.source == source.text(); });
    failures.push_back({source.text(), std::move(diagnosis)});
  };
  while (!group.empty()) {
    if (work_.cancel && work_.cancel->canceled())
      return fail(diagnose("EH-P10").with("component", component_.id));
    TRY_ASSIGN(const std::unique_ptr<GrowingFile> file,
               GrowingFile::open(partial, work_.store.root(), artifact_.size, chunks ? &*chunks : nullptr));
    if (artifact_.size && file->held() > *artifact_.size) TRY(file->start(0));
    const bool resumed = file->holds_any();
    const bool whole = artifact_.size && file->held() == *artifact_.size;
    Unpacking unpacking(artifact_, *file, folder(), limits(), work_.cancel);
    Delivery delivery{path_text(partial), {}};
    if (!whole) {
      const Group asked = alone ? Group{group.front()} : group;
      std::vector<transfer::MirrorFailure> left;
      auto fetched = fetch(asked, *file, left);
      if (!fetched && !fetched.error().code.starts_with("EH-N") && !is_forbidden(fetched.error().code))
        return fail(std::move(fetched).error());
      if (!fetched && left.empty()) left.push_back({0, std::move(fetched).error(), true});
      for (transfer::MirrorFailure& failure : left) {
        note(*asked[failure.mirror], std::move(failure.diagnosis));
        if (failure.given_up || !fetched) std::erase(group, asked[failure.mirror]);
      }
      if (!fetched) continue;
      delivery = std::move(*fetched);
    }
    if (const std::string actual = file->digest(); actual != artifact_.sha256) {
      Diagnosis diagnosis = wrong_digest(actual, *file, delivery.where);
      file->remove();
      // Bytes of an earlier run may be the cause: try once more from the start.
      if (resumed && group.size() < refetched) {
        refetched = group.size();
        continue;
      }
      // All bytes came from earlier runs, and fetching again would change nothing.
      if (delivery.from.empty()) return fail(std::move(diagnosis));
      alone = true;
      if (delivery.from.size() != 1) continue;
      note(*delivery.from.front(), std::move(diagnosis));
      std::erase(group, delivery.from.front());
      continue;
    }
    file->complete();
    auto tree = finish_unpacking(unpacking, *file);
    auto published = tree ? publish(std::move(*tree), *file) : Result<std::string>(fail(tree.error()));
    // The bytes are right, so a repetition would fail the same way. Only an interrupted attempt keeps them.
    if (published || published.error().code == "EH-F19" || published.error().code == "EH-F21") file->remove();
    if (published) work_.acquired.sources.push_back(transfer::without_secret_query(delivery.where));
    return published;
  }
  return fail(diagnose("EH-N15"));
}

Result<std::string> ArtifactInstaller::run(std::vector<Failure>& failures) {
  TRY_ASSIGN(stage_, work_.store.stage("archive-" + artifact_.sha256, waiting(work_)));
  if (auto known = work_.store.tree_of(archive_key(artifact_))) return *known;  // another process was first
  const std::uint64_t size = artifact_.size.value_or(0);
  // The archive and its content, which is rarely smaller.
  TRY(work_.store.require_space(2 * size, size));
  for (Group& group : groups()) {
    auto tree = from_group(std::move(group), failures);
    if (tree) return tree;
    if (work_.cancel && work_.cancel->canceled())
      return fail(diagnose("EH-P10").with("component", component_.id));
    if (tree.error().code != "EH-N15") return tree;
  }
  return fail(diagnose("EH-N15"));
}

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
    auto tree = ArtifactInstaller(component, artifact, work).run(failures);
    if (tree) {
      for (Failure& failure : failures)
        work.acquired.warnings.push_back(std::move(failure.diagnosis.with("component", component.id)));
      work.before += artifact.size.value_or(0);
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
