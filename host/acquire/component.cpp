#include "host/acquire/component.hpp"

#include <algorithm>
#include <map>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/acquire/description.hpp"
#include "host/acquire/growing_file.hpp"
#include "host/acquire/installed_parts.hpp"
#include "host/acquire/selected_ranges.hpp"
#include "host/acquire/unpack.hpp"
#include "host/transfer/download.hpp"
#include "host/transfer/server_message.hpp"

namespace enginehost::acquire {
namespace {

namespace fs = std::filesystem;
using Phase = transfer::Progress::Phase;

bool is_wrong_bytes(Code code) {
  return code == Code::web_page_in_place_of_file || code == Code::fetched_length_wrong ||
         code == Code::fetched_content_wrong || code == Code::file_compressed_on_the_way ||
         code == Code::registry_manifest_wrong;
}
// Sources that were not asked at all.
bool is_skipped(Code code) {
  return code == Code::offline || code == Code::no_package_index || code == Code::source_kind_unsupported ||
         code == Code::pip_fails;
}
// Policy forbids the host, so that it was not asked.
bool is_forbidden(Code code) { return code == Code::forbidden_by_policy; }
// Another attempt with the same bytes fails the same way.
bool is_bad_archive(Code code) {
  return code == Code::archive_entry_refused || code == Code::archive_not_unpacked;
}

// Returns true if a package index or a registry is asked where the file is.
bool is_asked_for(const manifest::Source& source) {
  return source.kind == manifest::Source::Kind::package_index || source.kind == manifest::Source::Kind::oci;
}

// The last failure of a source.
struct Failure {
  std::string source;
  Diagnosis diagnosis;
};

// Installs one artifact of a component: fetches it, or its ranges, from its sources in turn and unpacks it.
// Works under the artifact's lock. One thread; used once.
class ArtifactInstaller {
 public:
  ArtifactInstaller(const manifest::Component& component, const manifest::Artifact& artifact,
                    ComponentWork& work, std::vector<Failure>& failures)
      : component_(component), artifact_(artifact), work_(work), failures_(failures) {}

  // EH-N15: the sources failed, see `failures`.
  Result<std::string> run() {
    TRY_ASSIGN(stage_, work_.store.stage("archive-" + artifact_.sha256, waiting(work_)));
    if (auto known = installed_tree(artifact_, work_.build, work_.store))
      return *known;  // another process was first
    by_ranges_ = by_ranges_ && !most_arrived_whole();
    // The archive and its content, which is rarely smaller.
    TRY(work_.store.require_space(2 * size(), size()));
    for (Group& group : groups()) {
      if (by_ranges_) {
        TRY_ASSIGN(auto tree, from_ranges(group));
        if (tree) return std::move(*tree);
        if (group.empty()) continue;
        by_ranges_ = false;
        if (work_.total) *work_.total += *artifact_.size - size_of(artifact_.ranges);
        TRY(work_.store.require_space(2 * size(), size()));
      }
      auto tree = from_group(std::move(group));
      if (tree) return tree;
      if (work_.cancel && work_.cancel->canceled())
        return fail(diagnose(Code::canceled).with(Key::component, component_.id));
      if (tree.error().code != Code::component_without_source) return tree;
    }
    return fail(diagnose(Code::component_without_source));
  }

  // Returns the bytes that it fetches: see download_size().
  std::uint64_t size() const { return by_ranges_ ? size_of(artifact_.ranges) : artifact_.size.value_or(0); }

 private:
  // Sources that are asked together: adjacent sources with parts, or one without.
  using Group = std::vector<const manifest::Source*>;
  // The origin of received bytes.
  struct Delivery {
    std::string where;
    Group from;
  };

  void report(Phase phase, std::uint64_t done, double rate, const std::string& source) {
    const std::uint64_t all = work_.before + done;
    work_.arrived = std::max(work_.arrived, all);
    stage_->report_progress(all, work_.total.value_or(0));
    if (work_.stage != nullptr) work_.stage->report_progress(all, work_.total.value_or(0));
    if (work_.progress) work_.progress({phase, all, work_.total, rate, source});
  }

  // Returns true if parts of the file can be asked for, and so from several sources at once: the size is
  // known, and the source is no file of this machine.
  bool has_parts(const manifest::Source& source) const {
    if (artifact_.size.value_or(0) == 0) return false;
    return is_asked_for(source) || !mirror_of(source).locate;
  }

  // A registry's mirror that the configuration names is asked alone, because it is there to spare the
  // registry.
  std::vector<Group> groups() const {
    std::vector<Group> result;
    bool shares_before = false;
    for (const manifest::Source& source : sources_) {
      const bool of_manifest = std::ranges::find(artifact_.sources, source.location,
                                                 &manifest::Source::location) != artifact_.sources.end();
      const bool shares = of_manifest && has_parts(source);
      if (!shares || !shares_before) result.emplace_back();
      result.back().push_back(&source);
      shares_before = shares;
    }
    return result;
  }

  transfer::Mirror mirror_of(const manifest::Source& source) const {
    const bool is_file = source.kind == manifest::Source::Kind::file;
    const std::string where = is_file ? resolve_file_source(source, work_.build) : source.location;
    if (!is_asked_for(source) && transfer::is_url(where)) return {where, {}};
    return {source.text(), [&](const transfer::TransferOptions& options, const CancelToken& cancel) {
              return locate(source, artifact_, work_.build, options, cancel);
            }};
  }

  // Fetches what the file lacks, with `ranges` only these.
  Result<Delivery> receive(const Group& group, GrowingFile& file, SelectedRanges* ranges,
                           std::vector<transfer::MirrorFailure>& left) {
    std::vector<transfer::Mirror> mirrors;
    for (const manifest::Source* source : group) mirrors.push_back(mirror_of(*source));
    if (is_asked_for(*group.front())) report(Phase::asking, 0, 0, mirrors.front().name);
    const std::uint64_t passed_over = ranges != nullptr ? *artifact_.size - size() : 0;
    const auto show = [&](const transfer::Progress& now) {
      report(now.phase, now.done - std::min(now.done, passed_over), now.bytes_per_second, now.source);
    };
    if (!has_parts(*group.front())) {
      transfer::UrlRequest request;
      request.expected_size = artifact_.size;
      request.limit = work_.options.download_limit;
      TRY_ASSIGN(
          transfer::TransferReport report,
          transfer::fetch_from(mirrors.front(), request, file, work_.options.transfer, show, work_.cancel));
      work_.acquired.downloaded += report.received;
      return Delivery{std::move(report.url), group};
    }
    transfer::PartSink& sink = ranges != nullptr ? static_cast<transfer::PartSink&>(*ranges) : file;
    TRY_ASSIGN(transfer::DownloadReport report,
               transfer::download({std::move(mirrors), *artifact_.size}, sink, work_.options.transfer, left,
                                  show, work_.cancel));
    work_.acquired.downloaded += report.received;
    Delivery delivery{std::move(report.url), {}};
    for (const std::size_t place : report.contributors) delivery.from.push_back(group[place]);
    return delivery;
  }

  // As receive() from the `asked` sources of the group. Notes their failures, and removes those that cannot
  // give the artifact from the group. Returns nothing if they did not give it.
  Result<std::optional<Delivery>> fetch(Group& group, const Group& asked, GrowingFile& file,
                                        SelectedRanges* ranges) {
    std::vector<transfer::MirrorFailure> left;
    auto fetched = receive(asked, file, ranges, left);
    if (!fetched && area_of(fetched.error().code) != Area::network && !is_forbidden(fetched.error().code))
      return fail(std::move(fetched).error());
    if (!fetched && left.empty()) left.push_back({0, std::move(fetched).error(), true});
    for (transfer::MirrorFailure& failure : left) {
      const bool sends_whole = failure.diagnosis.value(Key::problem) == SelectedRanges::sends_no_parts;
      note(*asked[failure.mirror], std::move(failure.diagnosis));
      if ((failure.given_up || !fetched) && !sends_whole) std::erase(group, asked[failure.mirror]);
    }
    return fetched ? std::optional(std::move(*fetched)) : std::nullopt;
  }

  // Keeps the last diagnosis of each source.
  void note(const manifest::Source& source, Diagnosis diagnosis) {
    std::erase_if(failures_, [&](const Failure& known) { return known.source == source.text(); });
    failures_.push_back({source.text(), std::move(diagnosis)});
  }

  Diagnosis wrong_digest(const std::string& actual, const GrowingFile& file, const std::string& where) const {
    const auto title = transfer::title_of_page(file.head(4096));
    Diagnosis diagnosis = diagnose(title ? Code::web_page_in_place_of_file : Code::fetched_content_wrong);
    diagnosis.with(Key::url, where)
        .with(Key::expected_sha256, artifact_.sha256, "manifest")
        .with(Key::actual_sha256, actual);
    if (title) diagnosis.with(Key::title, *title, "the first bytes");
    diagnosis.with(Key::actual, std::to_string(file.held()));
    if (!title) transfer::add_what_came(diagnosis, file.head(4096), file.held());
    return diagnosis;
  }

  // The manifest has the modes and links that the directory of a whole archive has. The tree's id then
  // verifies every file.
  Result<void> apply_kinds(UnpackedTree& tree) const {
    std::map<std::string_view, cache::TreeEntry::Kind> kinds;
    for (const cache::TreeEntry& file : artifact_.files) kinds.emplace(file.path, file.kind);
    for (const MetEntry& met : tree.unpacked.entries) {
      const auto found = kinds.find(met.path);
      if (found == kinds.end()) continue;
      if (found->second == cache::TreeEntry::Kind::link) TRY(tree.writer.make_link_of(met.path));
      if (found->second == cache::TreeEntry::Kind::executable)
        TRY(tree.writer.set_executable(met.path, true));
    }
    return {};
  }

  // Waits for the rest of the unpacking of a complete file, checks the files and publishes them.
  Result<std::string> publish(Unpacking& unpacking, GrowingFile& file) {
    const std::uint64_t all = by_ranges_ ? size() : file.held();
    while (!unpacking.wait(std::chrono::milliseconds(100)))
      report(Phase::unpacking, std::min(unpacking.position(), all), 0, component_.id);
    auto unpacked = unpacking.outcome();
    // Some zip archives (stored entries whose size follows the data) can only be read from their directory.
    if (!unpacked && !by_ranges_ && artifact_.archive == "zip" &&
        unpacked.error().code == Code::archive_not_unpacked)
      unpacked = unpack_into(artifact_, file, true, folder(), limits(), work_.cancel);
    TRY_ASSIGN(UnpackedTree tree, std::move(unpacked));
    report(Phase::checking, all, 0, component_.id);
    TRY(by_ranges_ ? apply_kinds(tree) : check_unpacked(artifact_, tree, file, folder()));
    report(Phase::publishing, all, 0, component_.id);
    TRY_ASSIGN(const cache::TreeList list, tree.writer.finish());
    if (const std::string actual = list.id(); !artifact_.tree.empty() && actual != artifact_.tree)
      return fail(diagnose(Code::archive_not_unpacked)
                      .with(Key::archive, artifact_.archive)
                      .with(Key::problem, "it does not unpack to the tree that the manifest names")
                      .with(Key::expected_tree, artifact_.tree, "manifest")
                      .with(Key::actual_tree, actual));
    // Ranges show what the manifest's files are, and not what the archive with this digest has.
    return work_.store.publish_tree(list, folder(), by_ranges_ ? std::string() : archive_key(artifact_));
  }

  // An earlier run fetched the whole archive, and less of it is missing than the ranges have.
  bool most_arrived_whole() const {
    std::error_code error;
    const std::uintmax_t there = fs::file_size(work_.store.partial(artifact_.sha256, *stage_), error);
    return !error && there + size_of(artifact_.ranges) >= *artifact_.size;
  }

  // Returns nothing if no source is left, or if the artifact must be fetched whole.
  Result<std::optional<std::string>> from_ranges(Group& group) {
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
        if (!has_parts(*group.front())) return std::optional<std::string>();
        TRY_ASSIGN(auto delivery, fetch(group, Group(group), *file, &parts));
        if (!delivery) return std::optional<std::string>();
        where = std::move(delivery->where);
      }
      TRY(parts.finish());  // also for an earlier run that ended before this line
      file->complete();
      auto published = publish(unpacking, *file);
      if (!published && !is_bad_archive(published.error().code)) return fail(std::move(published).error());
      file->remove();
      if (published) {
        work_.acquired.sources.push_back(without_passwords(where));
        return std::optional(std::move(*published));
      }
      if (resumed) continue;  // bytes of an earlier run may be the cause
      published.error().with(Key::component, component_.id).with(Key::url, where);
      work_.acquired.warnings.push_back(std::move(published).error());
      return std::optional<std::string>();
    }
  }

  // Wrong bytes from several mirrors blame none of them; each is then asked alone.
  Result<std::string> from_group(Group group) {
    const fs::path partial = work_.store.partial(artifact_.sha256, *stage_);
    TRY_ASSIGN(const std::optional<transfer::ChunkList> chunks, chunk_list_for(artifact_, work_));
    bool alone = false;
    // The number of sources when bytes of an earlier run were last dropped. Once per source is enough.
    std::size_t refetched = group.size() + 1;
    while (!group.empty()) {
      if (work_.cancel && work_.cancel->canceled())
        return fail(diagnose(Code::canceled).with(Key::component, component_.id));
      TRY_ASSIGN(const std::unique_ptr<GrowingFile> file,
                 GrowingFile::open(partial, work_.store.root(), artifact_.size, chunks ? &*chunks : nullptr));
      const bool resumed = file->holds_any();
      const bool whole = artifact_.size && file->held() == *artifact_.size;
      std::optional<Unpacking> unpacking;
      const auto begin_unpacking = [&] {
        unpacking.emplace(artifact_, *file, folder(), limits(), work_.cancel);
      };
      if (is_bounded()) begin_unpacking();
      Delivery delivery{path_text(partial), {}};
      if (!whole) {
        TRY_ASSIGN(auto fetched, fetch(group, alone ? Group{group.front()} : Group(group), *file, nullptr));
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
      if (!unpacking) begin_unpacking();
      auto published = publish(*unpacking, *file);
      // Only an interrupted attempt keeps the bytes.
      if (published || is_bad_archive(published.error().code)) file->remove();
      if (published) work_.acquired.sources.push_back(without_passwords(delivery.where));
      return published;
    }
    return fail(diagnose(Code::component_without_source));
  }

  // Whether the bytes may be unpacked while they arrive, before their digest is known: the manifest names the
  // files, or there is nothing to unpack. An archive of a kilobyte may else become gigabytes.
  bool is_bounded() const { return !artifact_.files.empty() || artifact_.archive == "none"; }
  cache::TreeLimits limits() const {
    const cache::TreeLimits most{work_.options.unpacked_limit, 200'000};
    if (artifact_.files.empty())
      return {artifact_.unpacked != 0 ? std::min(most.bytes, artifact_.unpacked) : most.bytes, most.entries};
    std::uint64_t bytes = 0;
    for (const cache::TreeEntry& file : artifact_.files) bytes += file.size;
    return {std::min(most.bytes, bytes), artifact_.files.size()};
  }
  fs::path folder() const { return stage_->folder() / "tree"; }

  const manifest::Component& component_;
  const manifest::Artifact& artifact_;
  ComponentWork& work_;
  std::vector<Failure>& failures_;
  bool by_ranges_ = is_fetched_by_ranges(artifact_, work_.build);
  std::optional<cache::Stage> stage_;
  const std::vector<manifest::Source> sources_ =
      with_registry_mirrors(artifact_.sources, work_.options.transfer);
};

// Returns the failure that decides the diagnosis, with every source and its own failure.
Diagnosis all_failed(const manifest::Component& component, const std::vector<Failure>& failures) {
  const auto rank = [](const Failure& failure) {
    const Code code = failure.diagnosis.code;
    return is_skipped(code) ? 3 : is_forbidden(code) ? 2 : is_wrong_bytes(code) ? 1 : 0;
  };
  const auto decisive = std::ranges::min_element(failures, {}, rank);
  Diagnosis diagnosis = decisive->diagnosis;
  diagnosis.with(Key::component, component.id);
  for (const Failure& failure : failures)
    diagnosis.with(Key::source_tried, failure.source, failure.diagnosis.code_text());
  return diagnosis;
}

}  // namespace

const manifest::Artifact* first_usable(const manifest::Component& component) {
  for (const manifest::Artifact& artifact : component.artifacts)
    if (!artifact.sha256.empty() && !artifact.sources.empty()) return &artifact;
  return nullptr;
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
  if (auto known = installed_tree(component, work.build, work.store)) return *known;
  std::vector<Failure> failures;
  std::optional<Diagnosis> bad_archive;
  for (const manifest::Artifact& artifact : component.artifacts) {
    if (!is_sha256_hex(artifact.sha256) || !is_known_archive(artifact.archive)) continue;
    ArtifactInstaller installer(component, artifact, work, failures);
    auto tree = installer.run();
    if (tree) {
      for (Failure& failure : failures)
        work.acquired.warnings.push_back(std::move(failure.diagnosis.with(Key::component, component.id)));
      work.before += installer.size();
      return tree;
    }
    Diagnosis& diagnosis = tree.error();
    if (diagnosis.code == Code::component_without_source) continue;  // its failures are noted
    diagnosis.with(Key::component, component.id);
    if (!is_bad_archive(diagnosis.code)) return tree;
    if (!bad_archive) bad_archive = std::move(diagnosis.with(Key::sha256, artifact.sha256, "manifest"));
  }
  if (bad_archive) return fail(std::move(*bad_archive));
  if (!failures.empty()) return fail(all_failed(component, failures));
  return fail(diagnose(Code::component_without_source)
                  .with(Key::component, component.id)
                  .with(Key::build, work.build.id));
}

}  // namespace enginehost::acquire
