#include "host/acquire/artifact_installer.hpp"

#include <algorithm>
#include <map>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "host/acquire/component.hpp"
#include "host/acquire/description.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::acquire {

namespace fs = std::filesystem;
using Phase = transfer::Progress::Phase;

namespace {

// Returns true if a package index or a registry is asked where the file is.
bool is_asked_for(const manifest::Source& source) {
  return source.kind == manifest::Source::Kind::package_index || source.kind == manifest::Source::Kind::oci;
}

}  // namespace

void ArtifactInstaller::report(Phase phase, std::uint64_t done, double rate, const std::string& source) {
  const std::uint64_t all = work_.before + done;
  stage_->report_progress(all, work_.total.value_or(0));
  if (work_.stage != nullptr) work_.stage->report_progress(all, work_.total.value_or(0));
  if (!work_.progress) return;
  work_.progress({phase, all, work_.total, rate, source});
}

// Returns true if parts of the file can be asked for, and so from several sources at once: the size is known,
// and the source is no file of this machine.
bool ArtifactInstaller::has_parts(const manifest::Source& source) const {
  if (artifact_.size.value_or(0) == 0) return false;
  return is_asked_for(source) || !mirror_of(source).locate;
}

// A registry's mirror that the configuration names is asked alone, because it is there to spare the registry.
std::vector<ArtifactInstaller::Group> ArtifactInstaller::groups() const {
  std::vector<Group> result;
  bool shares_before = false;
  for (const manifest::Source& source : sources_) {
    const bool of_manifest =
        std::any_of(artifact_.sources.begin(), artifact_.sources.end(),
                    [&](const manifest::Source& known) { return known.location == source.location; });
    const bool shares = of_manifest && has_parts(source);
    if (!shares || !shares_before) result.emplace_back();
    result.back().push_back(&source);
    shares_before = shares;
  }
  return result;
}

transfer::Mirror ArtifactInstaller::mirror_of(const manifest::Source& source) const {
  const bool is_file = source.kind == manifest::Source::Kind::file;
  const std::string where = is_file ? resolve_file_source(source, work_.build) : source.location;
  if (!is_asked_for(source) && transfer::is_url(where)) return {where, {}};
  return {source.text(), [&](const transfer::TransferOptions& options, const CancelToken& cancel) {
            return locate(source, artifact_, work_.build, options, cancel);
          }};
}

// Fetches what the sink lacks from sources with parts.
Result<transfer::DownloadReport> ArtifactInstaller::download(const Group& group, transfer::PartSink& sink,
                                                             std::vector<transfer::MirrorFailure>& left,
                                                             const transfer::ProgressCallback& progress) {
  transfer::DownloadRequest request{{}, *artifact_.size};
  for (const manifest::Source* source : group) request.mirrors.push_back(mirror_of(*source));
  if (is_asked_for(*group.front())) report(Phase::asking, 0, 0, request.mirrors.front().name);
  return transfer::download(request, sink, work_.options.transfer, left, progress, work_.cancel);
}

Result<ArtifactInstaller::Delivery> ArtifactInstaller::fetch(const Group& group, GrowingFile& file,
                                                             std::vector<transfer::MirrorFailure>& left) {
  if (!has_parts(*group.front())) {
    const transfer::Mirror mirror = mirror_of(*group.front());
    if (is_asked_for(*group.front())) report(Phase::asking, 0, 0, mirror.name);
    transfer::UrlRequest request;
    request.expected_size = artifact_.size;
    request.limit = work_.options.download_limit;
    TRY_ASSIGN(transfer::TransferReport report,
               transfer::fetch_from(mirror, request, file, work_.options.transfer, progress_, work_.cancel));
    work_.acquired.downloaded += report.received;
    return Delivery{std::move(report.url), group};
  }
  TRY_ASSIGN(transfer::DownloadReport report, download(group, file, left, progress_));
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
  return publish_tree(std::move(tree));
}

// The manifest has the modes and links that the archive's directory has. The tree's id then verifies every
// file.
Result<std::string> ArtifactInstaller::publish_selected(UnpackedTree tree) {
  report(Phase::checking, size(), 0, component_.id);
  std::map<std::string_view, cache::TreeEntry::Kind> kinds;
  for (const cache::TreeEntry& file : artifact_.files) kinds.emplace(file.path, file.kind);
  for (const MetEntry& met : tree.unpacked.entries) {
    const auto found = kinds.find(met.path);
    if (found == kinds.end()) continue;
    if (found->second == cache::TreeEntry::Kind::link) TRY(tree.writer.make_link_of(met.path));
    if (found->second == cache::TreeEntry::Kind::executable) TRY(tree.writer.set_executable(met.path, true));
  }
  return publish_tree(std::move(tree));
}

Result<std::string> ArtifactInstaller::publish_tree(UnpackedTree tree) {
  report(Phase::publishing, size(), 0, component_.id);
  TRY_ASSIGN(const cache::TreeList list, tree.writer.finish());
  if (const std::string actual = list.id(); !artifact_.tree.empty() && actual != artifact_.tree)
    return fail(diagnose("EH-F21")
                    .with("archive", artifact_.archive)
                    .with("problem", "it does not unpack to the tree that the manifest names")
                    .with("expected_tree", artifact_.tree, "manifest")
                    .with("actual_tree", actual));
  return work_.store.publish_tree(list, folder(), archive_key(artifact_));
}

// Keeps the last diagnosis of each source.
void ArtifactInstaller::note(std::vector<Failure>& failures, const manifest::Source& source,
                             Diagnosis diagnosis) {
  std::erase_if(failures, [&](const Failure& known) { return known.source == source.text(); });
  failures.push_back({source.text(), std::move(diagnosis)});
}

// An earlier run fetched the whole archive, and less of it is missing than the ranges have.
bool ArtifactInstaller::most_arrived_whole() const {
  std::error_code error;
  const std::uintmax_t there = fs::file_size(work_.store.partial(artifact_.sha256, *stage_), error);
  return !error && there + size_of(artifact_.ranges) >= *artifact_.size;
}

Result<std::optional<std::string>> ArtifactInstaller::from_ranges(Group& group,
                                                                  std::vector<Failure>& failures) {
  std::string name;
  for (const transfer::Range& range : artifact_.ranges)
    name += std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
  const fs::path partial =
      work_.store.partial(artifact_.sha256 + "." + sha256_hex(name).substr(0, 16), *stage_);
  for (;;) {
    TRY_ASSIGN(
        const std::unique_ptr<GrowingFile> file,
        GrowingFile::open(partial, work_.store.root(), SelectedRanges::size_of_file(artifact_.ranges)));
    const bool resumed = file->holds_any();
    SelectedRanges parts(*file, artifact_.ranges);
    Unpacking unpacking(artifact_, *file, folder(), limits(), work_.cancel);
    std::string where = path_text(partial);
    if (!parts.missing().empty()) {
      std::vector<transfer::MirrorFailure> left;
      if (!has_parts(*group.front())) return std::optional<std::string>();
      const std::uint64_t passed_over = *artifact_.size - size();
      const auto show = [&](const transfer::Progress& now) {
        report(now.phase, now.done - std::min(now.done, passed_over), now.bytes_per_second, now.source);
      };
      auto fetched = download(group, parts, left, show);
      if (!fetched && !fetched.error().code.starts_with("EH-N") && !is_forbidden(fetched.error().code))
        return fail(std::move(fetched).error());
      if (!fetched && left.empty()) left.push_back({0, std::move(fetched).error(), true});
      const Group asked = group;
      for (transfer::MirrorFailure& failure : left) {
        const bool sends_whole = failure.diagnosis.value("problem") == SelectedRanges::sends_no_parts;
        note(failures, *asked[failure.mirror], std::move(failure.diagnosis));
        if ((failure.given_up || !fetched) && !sends_whole) std::erase(group, asked[failure.mirror]);
      }
      if (!fetched) return std::optional<std::string>();
      work_.acquired.downloaded += fetched->received;
      where = std::move(fetched->url);
    }
    TRY(parts.finish());  // also for an earlier run that ended before this line
    file->complete();
    while (!unpacking.wait(std::chrono::milliseconds(100)))
      report(Phase::unpacking, std::min(unpacking.position(), size()), 0, component_.id);
    auto tree = unpacking.outcome();
    auto published = tree ? publish_selected(std::move(*tree)) : Result<std::string>(fail(tree.error()));
    if (published) {
      file->remove();
      work_.acquired.sources.push_back(transfer::without_secret_query(where));
      return std::optional(std::move(*published));
    }
    if (published.error().code != "EH-F19" && published.error().code != "EH-F21")
      return fail(std::move(published).error());
    file->remove();
    if (resumed) continue;  // bytes of an earlier run may be the cause
    published.error().with("component", component_.id).with("url", where);
    work_.acquired.warnings.push_back(std::move(published).error());
    return std::optional<std::string>();
  }
}

// Wrong bytes from several mirrors blame none of them; each is then asked alone.
Result<std::string> ArtifactInstaller::from_group(Group group, std::vector<Failure>& failures) {
  const fs::path partial = work_.store.partial(artifact_.sha256, *stage_);
  TRY_ASSIGN(const std::optional<transfer::ChunkList> chunks, chunk_list_for(artifact_, work_));
  bool alone = false;
  // The number of sources when bytes of an earlier run were last dropped. Once per source is enough.
  std::size_t refetched = group.size() + 1;
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
        note(failures, *asked[failure.mirror], std::move(failure.diagnosis));
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
      note(failures, *delivery.from.front(), std::move(diagnosis));
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
  by_ranges_ = by_ranges_ && !most_arrived_whole();
  // The archive and its content, which is rarely smaller.
  TRY(work_.store.require_space(2 * size(), size()));
  for (Group& group : groups()) {
    if (by_ranges_) {
      TRY_ASSIGN(auto tree, from_ranges(group, failures));
      if (tree) return std::move(*tree);
      if (group.empty()) continue;
      by_ranges_ = false;
      if (work_.total) *work_.total += *artifact_.size - size_of(artifact_.ranges);
      TRY(work_.store.require_space(2 * size(), size()));
    }
    auto tree = from_group(std::move(group), failures);
    if (tree) return tree;
    if (work_.cancel && work_.cancel->canceled())
      return fail(diagnose("EH-P10").with("component", component_.id));
    if (tree.error().code != "EH-N15") return tree;
  }
  return fail(diagnose("EH-N15"));
}

}  // namespace enginehost::acquire
