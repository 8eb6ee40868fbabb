#include "tools/follow/wheel.hpp"

#include <algorithm>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cache/tree_list.hpp"
#include "host/manifest/trust/minisign.hpp"
#include "tools/publish/names.hpp"

namespace enginehost::follow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_small_member = std::uint64_t{16} << 20;
constexpr std::size_t most_members = 200'000;

Diagnosis broken_wheel(const PublishedFile& file, const std::string& problem) {
  return not_as_planned(
      file.project, file.version, file.file, problem,
      "report it to the makers of " + file.project + "; the row is left out until they publish another file");
}

// An archive that cannot be read is a fact about the release; a network that fails or a full disk is not.
Diagnosis of_wheel(const PublishedFile& file, Diagnosis failure) {
  failure.with(Key::wheel, file.file);
  if (failure.code != Code::archive_entry_refused && failure.code != Code::archive_not_unpacked)
    return failure;
  std::string problem = "its archive is refused: " + std::string(failure.value(Key::problem));
  if (const auto entry = failure.value(Key::entry); !entry.empty())
    problem += ", entry " + std::string(entry);
  return std::move(broken_wheel(file, problem).with(Key::archive_failure, failure.code));
}

// The fields of a line of RECORD, which is written as CSV.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// "sha256=" and URL-safe base64 without padding, as hexadecimal digits; empty for anything else.
std::string digest_in_record(std::string_view text) {
  constexpr std::string_view kind = "sha256=";
  if (!text.starts_with(kind)) return {};
  std::string plain(text.substr(kind.size()));
  std::ranges::replace(plain, '-', '+');
  std::ranges::replace(plain, '_', '/');
  while (plain.size() % 4 != 0) plain += '=';
  const std::string bytes = manifest::bytes_of_base64(plain);
  return bytes.size() == 32 ? hex_of(bytes) : std::string();
}

// Returns the problem, or an empty text.
std::string apply_record(std::string_view text, std::map<std::string, Member>& members) {
  std::map<std::string, int> seen;
  for (const std::string& given : split(text, '\n')) {
    const std::string_view line = std::string_view(given).ends_with('\r')
                                      ? std::string_view(given).substr(0, given.size() - 1)
                                      : std::string_view(given);
    if (line.empty()) continue;
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != 3) return "its RECORD has a line that is none: " + std::string(line.substr(0, 200));
    if (++seen[fields[0]] > 1) return "its RECORD names " + fields[0] + " twice";
    const auto member = members.find(fields[0]);
    if (member == members.end()) continue;
    // A file that was changed after RECORD was written counts only if it is selected, and is refused then.
    const auto size = parse_integer(fields[2]);
    if (size && static_cast<std::uint64_t>(*size) == member->second.size)
      member->second.sha256 = digest_in_record(fields[1]);
  }
  return {};
}

// Returns the problem, or an empty text.
std::string read_members(const acquire::ZipDirectory& directory, std::map<std::string, Member>& members) {
  if (directory.entries.size() > most_members)
    return "it has " + std::to_string(directory.entries.size()) + " entries, more than " +
           std::to_string(most_members);
  for (const acquire::ZipEntry& entry : directory.entries) {
    if (entry.name.ends_with('/')) continue;
    if (const auto problem = cache::path_problem(entry.name); !problem.empty())
      return "the name of an entry is refused (" + std::string(problem) + "): " + entry.name.substr(0, 200);
    Member member;
    member.size = entry.size;
    member.executable = (entry.unix_mode & 0111) != 0;
    member.link = (entry.unix_mode & S_IFMT) == 0120000;
    if (!members.emplace(entry.name, std::move(member)).second) return "it has two entries " + entry.name;
  }
  return {};
}

// The only folder NAME-VERSION.dist-info; empty: none, or several.
std::string info_folder(const std::map<std::string, Member>& members) {
  std::string found;
  for (const auto& [path, member] : members) {
    if (!path.ends_with(".dist-info/RECORD") || path.find('/') != path.rfind('/')) continue;
    if (!found.empty()) return {};
    found = path.substr(0, path.find('/'));
  }
  return found;
}

}  // namespace

Diagnosis not_as_planned(const std::string& project, const std::string& version, const std::string& file,
                         const std::string& problem, const std::string& remedy) {
  Diagnosis diagnosis = diagnose(Code::release_not_as_planned);
  diagnosis.with(Key::project, project).with(Key::version, version);
  if (!file.empty()) diagnosis.with(Key::file, file, "package index");
  return std::move(diagnosis.with(Key::problem, problem).with(Key::remedy, remedy));
}

WheelReader::WheelReader(fs::path scratch, acquire::AcquireOptions options, std::optional<CancelToken> cancel)
    : scratch_(std::move(scratch)), options_(std::move(options)), cancel_(std::move(cancel)) {
  // A run that was killed left its files.
  std::error_code error;
  remove_tree(scratch_, error);
}

WheelReader::~WheelReader() {
  known_.clear();
  opened_.clear();
  std::error_code error;
  remove_tree(scratch_, error);
}

void WheelReader::add_payload(const Wheel& wheel, std::uint64_t fetched, bool whole) {
  const auto opened =
      std::ranges::find_if(opened_, [&](const Opened& one) { return one.wheel.get() == &wheel; });
  if (opened == opened_.end()) return;
  opened->payload += fetched;
  opened->whole = opened->whole || whole;
}

std::vector<ReadArchive> WheelReader::archives() const {
  std::vector<ReadArchive> archives;
  for (const Opened& one : opened_)
    archives.push_back(
        {one.wheel->published.file, one.wheel->size, one.wheel->zip->received() + one.payload, one.whole});
  std::ranges::sort(archives, {}, &ReadArchive::file);
  return archives;
}

std::uint64_t WheelReader::fetched() const {
  std::uint64_t sum = 0;
  for (const Opened& one : opened_) sum += one.wheel->zip->received() + one.payload;
  return sum;
}

Result<std::map<std::string, std::string>> WheelReader::small_members(const Wheel& wheel,
                                                                      const std::vector<std::string>& paths) {
  std::vector<cache::TreeEntry> wanted;
  manifest::Artifact artifact;
  artifact.archive = "zip";
  for (const std::string& path : paths) {
    const Member& member = wheel.members.at(path);
    if (member.size > largest_small_member || member.link)
      return fail(broken_wheel(wheel.published, path + " has " + format_bytes(member.size) +
                                                    " or is a link; at most " +
                                                    format_bytes(largest_small_member) + " are read"));
    wanted.push_back({cache::TreeEntry::Kind::file, member.size, path, member.sha256});
    artifact.select.push_back(path);
  }
  const fs::path into = scratch_ / std::to_string(++numbered_);
  TRY(make_folders(into));
  auto unpacked = wheel.zip->unpack(artifact, wanted, into);
  if (!unpacked) return fail(of_wheel(wheel.published, std::move(unpacked).error()));
  std::map<std::string, std::string> texts;
  for (const std::string& path : paths) {
    TRY_ASSIGN(texts[path], read_file(into / path_of(path), largest_small_member));
    if (texts[path].size() != wheel.members.at(path).size)
      return fail(broken_wheel(wheel.published, path + " is not as long as the archive's directory says"));
  }
  std::error_code error;
  remove_tree(into, error);
  return texts;
}

Result<std::shared_ptr<const Wheel>> WheelReader::read(const PublishedFile& file) {
  if (!is_sha256_hex(file.sha256))
    return fail(not_as_planned(file.project, file.version, file.file,
                               "the package index states no SHA-256 of it",
                               "use an index that states digests, as most do (PEP 503, PEP 691)"));
  if (const auto known = known_.find(file.sha256); known != known_.end()) return known->second;
  auto wheel = read_new(file);
  if (wheel) known_.emplace(file.sha256, *wheel);
  return wheel;
}

Result<std::shared_ptr<const Wheel>> WheelReader::read_new(const PublishedFile& file) {
  transfer::Place place = place_of(file);
  if (!place.size) place.size = file.size;
  const fs::path folder = scratch_ / file.sha256.substr(0, 16);
  std::error_code error;
  remove_tree(folder, error);  // parts that a killed run left would count as received
  TRY(make_folders(folder));
  auto zip = acquire::PartialZip::open(place, folder, options_, cancel_);
  if (!zip) return fail(of_wheel(file, std::move(zip).error()));
  auto wheel = std::make_shared<Wheel>();
  wheel->published = file;
  wheel->size = zip->size();
  wheel->zip = std::make_shared<acquire::PartialZip>(std::move(*zip));
  opened_.push_back({wheel, 0, false});
  if (file.size && *file.size != wheel->size)
    return fail(broken_wheel(file, "it has " + std::to_string(wheel->size) +
                                       " bytes, and the package index says " + std::to_string(*file.size)));
  if (const std::string problem = read_members(wheel->directory(), wheel->members); !problem.empty())
    return fail(broken_wheel(file, problem));
  const std::string info = info_folder(wheel->members);
  const std::string record = info + "/RECORD", metadata = info + "/METADATA";
  if (info.empty() || !wheel->members.contains(metadata))
    return fail(
        broken_wheel(file, "it has not exactly one folder NAME-VERSION.dist-info with RECORD and METADATA"));
  TRY_ASSIGN(const auto texts, small_members(*wheel, {record, metadata}));
  if (const std::string problem = apply_record(texts.at(record), wheel->members); !problem.empty())
    return fail(broken_wheel(file, problem));
  if (wheel->members.at(metadata).sha256 != sha256_hex(texts.at(metadata)))
    return fail(broken_wheel(file, metadata + " is not as its RECORD says"));
  auto read = read_metadata(texts.at(metadata));
  if (!read) return fail(broken_wheel(file, read.error()));
  wheel->metadata = std::move(*read);
  const auto name = publish::read_wheel_name(file.file);
  if (!name || name->project != wheel->metadata.project ||
      compare_versions(name->version, wheel->metadata.version) != 0)
    return fail(broken_wheel(
        file, "its METADATA says that it is " + wheel->metadata.project + " " + wheel->metadata.version));
  return std::shared_ptr<const Wheel>(std::move(wheel));
}

Result<std::string> WheelReader::text_of(const Wheel& wheel, const std::string& path) {
  TRY_ASSIGN(auto texts, small_members(wheel, {path}));
  std::string text = std::move(texts.at(path));
  if (sha256_hex(text) != wheel.members.at(path).sha256)
    return fail(broken_wheel(wheel.published, path + " is not as its RECORD says"));
  return text;
}

}  // namespace enginehost::follow
