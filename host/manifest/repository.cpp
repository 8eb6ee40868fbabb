#include "host/manifest/repository.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string_view>

#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/manifest/fields.hpp"
#include "host/manifest/trust/signed_repository.hpp"

namespace enginehost::manifest {
namespace {

constexpr int most_attempts = 3;
constexpr std::uint64_t most_held_bytes = 16u << 20;  // of manifests that arrived and are not parsed yet
// A server without a valid timestamp is not asked at every open.
constexpr std::int64_t expired_copy_seconds = 300;
constexpr std::int64_t a_day = 86'400;
constexpr std::int64_t clocks_differ =
    a_day;  // allowed difference between the signer's and the reader's clock

std::string size_text(std::string_view bytes) {
  const auto number = parse_integer(bytes);
  return number && *number >= 0 ? format_bytes(static_cast<std::uint64_t>(*number)) : std::string(bytes);
}

constexpr std::string_view folder_of_manifests = "manifests/";

// Returns the engine that a path_of_manifest() names; empty for other paths.
std::string engine_named_by(const IndexEntry& entry) {
  const std::string ending = path_of_manifest("", entry.sha256).substr(folder_of_manifests.size());
  if (!entry.path.starts_with(folder_of_manifests) || !entry.path.ends_with(ending) ||
      entry.path.size() < folder_of_manifests.size() + ending.size())
    return {};
  std::string engine = entry.path.substr(folder_of_manifests.size());
  engine.resize(engine.size() - ending.size());
  return is_lower_id(engine) ? engine : std::string();
}

// A URL's failure keeps its own code, which shows whether to try again. A folder's becomes a failure of the
// repository.
Diagnosis index_failure(Diagnosis cause, const std::string& location) {
  if (is_url(location) || cause.code == Code::too_many_open_files)
    return cause.with(Key::repository, location).within("reading the index of repository " + location);
  std::string problem = "its index.json cannot be read";
  if (!cause.value(Key::limit).empty())
    problem = "its index.json has " + size_text(cause.value(Key::size)) + ", and at most " +
              size_text(cause.value(Key::limit)) + " are read";
  else if (!cause.value(Key::problem).empty())
    problem = "its index.json is " + std::string(cause.value(Key::problem));
  Diagnosis diagnosis =
      diagnose(Code::repository_unusable).with(Key::repository, location).with(Key::problem, problem);
  for (const Evidence& evidence : cause.evidence) diagnosis.evidence.push_back(evidence);
  return diagnosis;
}

void warn_when_expired(const std::string& what, const std::string& expires, std::int64_t now,
                       std::vector<std::string>& warnings) {
  const auto end = seconds_of_time(expires);
  if (end && *end < now)
    warnings.push_back(what + " expired at " + expires + ": newer builds may be missing");
}

std::optional<std::string> kept_copy(const IndexEntry& entry, DocumentReader& reader) {
  auto kept = reader.kept(entry.sha256);
  return kept && sha256_hex(*kept) == entry.sha256 ? std::move(kept) : std::nullopt;
}

// Returns true for a document that is longer than the reader was allowed to read: a server's is EH-N07, a
// folder's EH-F01 with "limit".
bool is_beyond_limit(const Diagnosis& failure) {
  return failure.code == Code::fetched_length_wrong || !failure.value(Key::limit).empty();
}

Result<std::string> read_verified(const std::string& location, const IndexEntry& entry,
                                  DocumentReader& reader) {
  const std::string document = below(location, entry.path);
  const auto too_large = [&] {
    return fail(diagnose(Code::repository_unusable)
                    .with(Key::repository, location)
                    .with(Key::document, document)
                    .with(Key::problem, entry.path + " has " +
                                            (entry.size != 0 ? format_bytes(entry.size) : "more") +
                                            ", and at most " + format_bytes(largest_document) + " are read"));
  };
  if (entry.size > largest_document) return too_large();
  Diagnosis differs = diagnose(Code::manifest_differs_from_index)
                          .with(Key::document, document)
                          .with(Key::repository, location);
  auto read = reader.read_listed(document, largest_document);
  if (!read && entry.size == 0 && is_beyond_limit(read.error())) return too_large();
  // An expected document is received up to the size that the index states.
  if (!read && read.error().code == Code::fetched_length_wrong && entry.size != 0)
    return fail(differs.with(Key::expected_size, std::to_string(entry.size), "index.json")
                    .with(Key::size, read.error().value(Key::actual), "the server"));
  TRY_ASSIGN(std::string bytes, std::move(read));
  if (entry.size != 0 && bytes.size() != entry.size)
    return fail(differs.with(Key::expected_size, std::to_string(entry.size), "index.json")
                    .with(Key::size, std::to_string(bytes.size()), "document"));
  const std::string digest = sha256_hex(bytes);
  if (digest != entry.sha256)
    return fail(differs.with(Key::expected, entry.sha256, "index.json").with(Key::found, digest, "document"));
  reader.keep(entry.sha256, bytes);
  return bytes;
}

// Unreadable content from a server is marked as wrong bytes; in a folder it is a wrong argument.
Diagnosis sent_from(const std::string& location, Diagnosis diagnosis) {
  if (is_url(location)) diagnosis.with(Key::sent_by, location);
  return diagnosis;
}

Result<Index> index_of(const std::string& bytes, const std::string& name, const std::string& location) {
  auto index =
      parse_json(bytes, name).and_then([&](const Json& document) { return read_index(document, name); });
  if (!index) return fail(sent_from(location, std::move(index).error()));
  return index;
}

Result<std::shared_ptr<const Manifest>> load_manifest(const RepositoryContent& content,
                                                      const IndexEntry& entry,
                                                      std::optional<std::string> kept, DocumentReader& reader,
                                                      std::uint64_t& bytes_left) {
  const std::string& location = content.location;
  TRY_ASSIGN(const std::string bytes,
             kept ? Result<std::string>(std::move(*kept)) : read_verified(location, entry, reader));
  if (bytes.size() > bytes_left)
    return fail(diagnose(Code::repository_unusable)
                    .with(Key::repository, location)
                    .with(Key::document, below(location, entry.path))
                    .with(Key::problem, "its manifests have more than " + format_bytes(most_manifest_bytes) +
                                            " together, and " + entry.path + " is not read"));
  bytes_left -= bytes.size();
  const std::string name = below(location, entry.path);
  auto manifest = parse_json(bytes, name).and_then([&](const Json& document) {
    return read_manifest(document, location, name, content.signed_by);
  });
  if (!manifest) return fail(sent_from(location, std::move(manifest).error()));
  // A client that needs another engine does not read this manifest, so the index must be right.
  if (!entry.engine.empty() && (*manifest)->engine != entry.engine)
    return fail(sent_from(
        location,
        diagnose(Code::member_wrong)
            .with(Key::document, name)
            .with(Key::member, "engine")
            .with(Key::problem, "it is \"" + (*manifest)->engine +
                                    "\", and the index lists the manifest for \"" + entry.engine + "\"")));
  return manifest;
}

bool is_signed_for(const RepositoryContent& content, const std::string& engine) {
  return content.engines.empty() || std::ranges::find(content.engines, engine) != content.engines.end();
}

// Returns the entries whose manifests have to be read, in the order of the index, and notes the engines of
// the others.
std::vector<const IndexEntry*> needed_entries(RepositoryContent& content,
                                              const std::set<std::string>& engines) {
  std::vector<const IndexEntry*> needed;
  for (const IndexEntry& entry : content.index.manifests) {
    if (entry.engine.empty()) {
      needed.push_back(&entry);
    } else if (is_signed_for(content, entry.engine)) {
      if (engines.empty() || engines.contains(entry.engine))
        needed.push_back(&entry);
      else
        content.unread_engines.insert(entry.engine);
    }
  }
  return needed;
}

// Reads manifests in groups. The documents of a group are fetched together and held until they are parsed, so
// their sizes are limited.
void load_manifests(RepositoryContent& content, const std::vector<const IndexEntry*>& entries,
                    DocumentReader& reader, std::int64_t now) {
  std::uint64_t bytes_left = most_manifest_bytes;
  for (std::size_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    std::vector<std::optional<std::string>> kept;
    std::vector<Expected> expected;
    for (std::uint64_t held = 0; end < entries.size() && (held < most_held_bytes || end == begin); ++end) {
      const IndexEntry& entry = *entries[end];
      const std::uint64_t most = entry.size != 0 ? std::min(entry.size, largest_document) : largest_document;
      held += most;
      kept.push_back(kept_copy(entry, reader));
      if (!kept.back() && entry.size <= largest_document)
        expected.push_back({below(content.location, entry.path), most});
    }
    reader.expect(expected);
    for (std::size_t i = begin; i < end; ++i) {
      auto manifest = load_manifest(content, *entries[i], std::move(kept[i - begin]), reader, bytes_left);
      if (!manifest) {
        Diagnosis failure = std::move(manifest).error().within("reading repository " + content.location);
        if (!entries[i]->engine.empty()) failure.with(Key::manifest_of, entries[i]->engine, "index.json");
        content.failures.push_back(std::move(failure));
        continue;
      }
      if (!is_signed_for(content, (*manifest)->engine)) continue;
      warn_when_expired("the manifest " + (*manifest)->name, (*manifest)->expires, now, content.warnings);
      content.manifests.push_back(std::move(*manifest));
    }
  }
}

// Reads the index, verified when the repository is signed, and the facts that follow from it.
Result<void> read_signed_index(RepositoryContent& content, RepositoryFiles& files, std::int64_t now,
                               const Trust& trust, bool& was_signed) {
  TRY_ASSIGN(auto verified, open_signed(files, trust.store, trust.required));
  was_signed = verified.has_value();
  if (!verified) return {};
  const std::string name = files.name_of("index.json");
  TRY_ASSIGN(content.index, index_of(verified->bytes, name, content.location));
  TRY(check_index(content.index, files.known_as(), *verified));
  content.signed_by = verified->signed_by.key_ids;
  content.engines = verified->engines;
  for (Blocked& one : content.index.blocked) one.engines = verified->engines;
  const std::int64_t signed_at = verified->seen.time;
  if (now + clocks_differ < signed_at)
    content.warnings.push_back("this machine's clock says " + text_of_time(now) + ", before repository " +
                               files.known_as() + " was signed at " + text_of_time(signed_at) +
                               ": it is wrong, and dates are judged by that signature");
  if (const auto date = expired(content.index, *verified, now)) {
    const std::int64_t moment = std::max(now, signed_at),
                       age = moment - seconds_of_time(*date).value_or(moment);
    const bool tolerated =
        trust.offline && (!trust.max_staleness_seconds || age <= *trust.max_staleness_seconds);
    if (!tolerated) content.expired = *date;
    std::string warning = "the signed index of repository " + files.known_as() + " expired at " + *date +
                          " (by " + (now < signed_at ? "its newest signature" : "this machine's clock") +
                          " it is " + text_of_time(moment) + ")";
    if (tolerated)
      warning += ": there is no network to ask for a newer one";
    else if (trust.offline)
      warning += ": longer ago than policy.max_staleness_days = " +
                 std::to_string(*trust.max_staleness_seconds / a_day) + " allows";
    content.warnings.push_back(
        warning + (tolerated ? "" : ": what is installed still opens, nothing new is installed"));
  }
  // Offline nobody can ask for a newer one.
  if (!trust.offline) {
    TRY_ASSIGN(const std::optional<std::string> end, check_timestamp(files, content.index, *verified));
    if (end && seconds_of_time(*end).value_or(0) < std::max(now, signed_at)) {
      content.timestamp_expired = true;
      if (content.expired.empty()) content.expired = *end;
      content.warnings.push_back(
          "the timestamp of repository " + content.location + " expired at " + *end +
          ": a build may have been withdrawn since; what is installed still opens, nothing new "
          "is installed");
    }
  }
  return trust.store.remember(files.known_as(), verified->seen);
}

Result<void> read_unsigned_index(RepositoryContent& content, RepositoryFiles& files, DocumentReader& reader,
                                 std::int64_t now) {
  const std::string name = files.name_of("index.json");
  const Result<std::string> bytes = reader.read(name, largest_document);
  if (!bytes) return fail(index_failure(bytes.error(), content.location));
  TRY_ASSIGN(content.index, index_of(*bytes, name, content.location));
  warn_when_expired("the index of repository " + content.location, content.index.expires, now,
                    content.warnings);
  return {};
}

Result<RepositoryContent> read_repository(const std::string& location, DocumentReader& reader,
                                          std::int64_t now, const Trust* trust,
                                          const std::set<std::string>& engines, bool with_manifests) {
  RepositoryContent content;
  content.location = location;
  RepositoryFiles files(location, reader, trust != nullptr ? trust->known_as : std::string());
  bool was_signed = false;
  if (trust != nullptr) TRY(read_signed_index(content, files, now, *trust, was_signed));
  if (!was_signed) TRY(read_unsigned_index(content, files, reader, now));
  content.warnings.insert(content.warnings.end(), content.index.warnings.begin(),
                          content.index.warnings.end());
  if (!with_manifests) return content;
  if (content.index.manifests.size() > most_manifests)
    return fail(diagnose(Code::repository_unusable)
                    .with(Key::repository, location)
                    .with(Key::problem, "its index lists " + std::to_string(content.index.manifests.size()) +
                                            " manifests, and at most " + std::to_string(most_manifests) +
                                            " are read"));
  load_manifests(content, needed_entries(content, engines), reader, now);
  return content;
}

Result<RepositoryContent> read_with_retries(const std::string& location, DocumentReader& reader,
                                            std::int64_t now, const Trust* trust,
                                            const std::set<std::string>& engines, bool with_manifests) {
  for (int attempt = 1;; ++attempt) {
    auto content = read_repository(location, reader, now, trust, engines, with_manifests);
    if (content && content->timestamp_expired && attempt == 1 &&
        reader.refetch_older_than(expired_copy_seconds))
      continue;
    if (content) {
      reader.accept();
      return content;
    }
    // Index and signature are two files. One may be newer than the other while their keeper replaces them, or
    // in cached copies.
    const Code code = content.error().code;
    const bool may_have_changed =
        code == Code::too_few_signatures || code == Code::signature_wrong || code == Code::key_not_trusted ||
        code == Code::key_revoked ||
        (code == Code::older_than_seen && attempt == 1);  // a kept index beside a newer timestamp
    if (!may_have_changed || attempt == most_attempts || !reader.refetch()) return content;
  }
}

}  // namespace

std::string below(const std::string& location, const std::string& path) {
  if (!is_url(location)) return path_text(path_of(location) / path_of(path));
  return location + (location.ends_with('/') ? "" : "/") + percent_encoded(path, "/-._~+");
}

std::string path_of_manifest(const std::string& engine, const std::string& sha256) {
  return std::string(folder_of_manifests) + engine + "-" + sha256 + ".json";
}

std::string path_of_vendor_facts(const std::string& sha256) { return "vendor-facts/" + sha256 + ".json"; }

std::optional<std::int64_t> seconds_of_time(const std::string& text) {
  if (!is_time(text)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<int>(parse_integer(std::string_view(text).substr(at, length)).value_or(0));
  };
  using namespace std::chrono;
  // A day beyond the month's end counts into the next month.
  const year_month month = year{number(0, 4)} / January + months{number(5, 2) - 1};
  const sys_days day = sys_days{month / 1} + days{number(8, 2) - 1};
  return duration_cast<seconds>(day.time_since_epoch()).count() + number(11, 2) * 3600 + number(14, 2) * 60 +
         number(17, 2);
}

Result<std::string> FolderReader::read(const std::string& location, std::uint64_t limit) {
  auto bytes = read_file(path_of(location), limit);
  if (!bytes) bytes.error().with(Key::place, "repository");
  return bytes;
}

std::vector<Blocked> read_blocked(Reading& reading, Fields& fields) {
  std::vector<Blocked> all;
  if (const Json* blocked = fields.array("blocked", Need::optional))
    for (const Json& object : blocked->as_array()) {
      Blocked one;
      Fields members(reading, object, "blocked[" + std::to_string(all.size()) + "]");
      members.text("sha256", Need::required, is_digest, one.sha256);
      members.text("reason", Need::required, is_text, one.reason);
      members.warn_of_unknown();
      all.push_back(std::move(one));
    }
  return all;
}

namespace {

IndexEntry read_entry(Reading& reading, const Json& object, std::string place) {
  IndexEntry entry;
  Fields members(reading, object, std::move(place));
  members.text("path", Need::required, is_text, entry.path);
  if (!entry.path.empty() && !is_view_path(entry.path))
    reading.mistake = diagnose(Code::manifest_path_leaves_repository)
                          .with(Key::document, reading.document)
                          .with(Key::member, members.place_of("path"))
                          .with(Key::path, entry.path);
  members.text("sha256", Need::required, is_digest, entry.sha256);
  std::optional<std::uint64_t> size;
  members.size("size", Need::nullable, size);
  entry.size = size.value_or(0);
  members.warn_of_unknown();
  return entry;
}

}  // namespace

Result<Index> read_index(const Json& document, const std::string& name) {
  Index index;
  TRY_ASSIGN(index.warnings, read_document(document, name, [&](Reading& reading, Fields& fields) {
               fields.text("name", Need::optional, is_text, index.name);
               fields.number("serial", Need::optional, 0, INT64_MAX, index.serial);
               fields.text("created", Need::optional, is_time, index.created);
               fields.text("expires", Need::optional, is_time, index.expires);
               if (const Json* manifests = fields.array("manifests", Need::required))
                 for (const Json& object : manifests->as_array()) {
                   IndexEntry entry = read_entry(reading, object,
                                                 "manifests[" + std::to_string(index.manifests.size()) + "]");
                   entry.engine = engine_named_by(entry);
                   index.manifests.push_back(std::move(entry));
                 }
               if (const Json* facts = fields.object("vendor_facts", Need::optional))
                 index.vendor_facts = read_entry(reading, *facts, "vendor_facts");
               index.blocked = read_blocked(reading, fields);
             }));
  return index;
}

Result<RepositoryContent> load_repository(const std::string& location, DocumentReader& reader,
                                          std::int64_t now, const Trust* trust,
                                          const std::set<std::string>& engines) {
  return read_with_retries(location, reader, now, trust, engines, true);
}

Result<RepositoryContent> load_index(const std::string& location, DocumentReader& reader, std::int64_t now,
                                     const Trust& trust) {
  return read_with_retries(location, reader, now, &trust, {}, false);
}

Result<std::optional<std::string>> read_vendor_facts(const RepositoryContent& content,
                                                     DocumentReader& reader) {
  if (!content.index.vendor_facts) return std::nullopt;
  const IndexEntry& entry = *content.index.vendor_facts;
  if (auto kept = kept_copy(entry, reader)) return kept;
  return read_verified(content.location, entry, reader).map([](std::string&& bytes) {
    return std::optional(std::move(bytes));
  });
}

void merge(Catalog& catalog, const RepositoryContent& repository) {
  for (const auto& manifest : repository.manifests) merge(catalog, manifest);
  catalog.unread_engines.insert(repository.unread_engines.begin(), repository.unread_engines.end());
  catalog.warnings.insert(catalog.warnings.end(), repository.warnings.begin(), repository.warnings.end());
  catalog.failures.insert(catalog.failures.end(), repository.failures.begin(), repository.failures.end());
  catalog.created = std::max(catalog.created, repository.index.created);
  if (!repository.expired.empty()) catalog.expired[repository.location] = repository.expired;
  for (const Blocked& one : repository.index.blocked)
    catalog.blocked.push_back({one.sha256, one.reason, repository.location, true, {}, one.engines});
}

}  // namespace enginehost::manifest
