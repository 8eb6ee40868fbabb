#include "host/history/store.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <mutex>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/system_errors.hpp"

namespace enginehost::history {
namespace {

// Records that could not be written. They are kept by state folder until the process ends.
struct RecordsInMemory {
  std::mutex mutex;
  std::map<std::filesystem::path, std::map<std::string, Record>> folders;
};

// Never destroyed, because threads of engines may still run while the process ends.
RecordsInMemory& kept() {
  static RecordsInMemory& all = *new RecordsInMemory;
  return all;
}

void keep_in_memory(const std::filesystem::path& state_folder, const Record& record) {
  const std::lock_guard lock(kept().mutex);
  kept().folders[state_folder].insert_or_assign(record.build, record);
}

bool drop_from_memory(const std::filesystem::path& state_folder, const std::string& build_id) {
  const std::lock_guard lock(kept().mutex);
  const auto folder = kept().folders.find(state_folder);
  return folder != kept().folders.end() && folder->second.erase(build_id) > 0;
}

std::map<std::string, Record> kept_in_memory(const std::filesystem::path& state_folder) {
  const std::lock_guard lock(kept().mutex);
  const auto folder = kept().folders.find(state_folder);
  return folder != kept().folders.end() ? folder->second : std::map<std::string, Record>();
}

constexpr std::uint64_t largest_record = 4u << 20;
constexpr std::string_view ending = ".json";

std::filesystem::path folder_of(const std::filesystem::path& state_folder) {
  return state_folder / "history";
}

// A build id is a name from a manifest and may contain anything; characters that are unsafe in a file name
// become %XX.
std::string file_name_of(const std::string& build_id) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string name;
  for (const char c : build_id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '+' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += '%';
      name += digits[byte >> 4];
      name += digits[byte & 15];
    }
  }
  return name + std::string(ending);
}

// The inverse, as far as possible.
std::string build_of(const std::filesystem::path& file) {
  const std::string name = path_text(file.stem());
  std::string build;
  for (std::size_t at = 0; at < name.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = name.data() + at + 1;
    const bool escaped = name[at] == '%' && at + 2 < name.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    build += escaped ? static_cast<char>(byte) : name[at];
    if (escaped) at += 2;
  }
  return build;
}

std::string why_stale(const Record& record, std::int64_t now, const Fingerprint* machine) {
  if (record.state == State::disabled) return {};
  if (record.retry_after != 0 && now >= record.retry_after) return "it has expired";
  for (const DependencyStamp& stamp : record.dependency_stamps) {
    const DependencyStamp seen = dependency_stamp_of(path_of(stamp.path));
    if (seen.present && !stamp.present) return stamp.path + " has appeared";
    if (!seen.present && stamp.present) return stamp.path + " is gone";
    if (seen.present && !(seen.stamp == stamp.stamp)) return stamp.path + " has changed";
  }
  return machine != nullptr ? what_changed(record.host, *machine) : std::string();
}

Stale stale(Record record, std::string why, std::int64_t now, const Fingerprint* machine) {
  const auto program = std::ranges::find(record.host, program_part, &Fingerprint::value_type::first);
  if (program == record.host.end()) return {std::move(record), std::move(why), {}};
  Record anywhere = record;
  std::erase_if(anywhere.host, [](const auto& part) { return part.first == program_part; });
  const bool holds_there = why_stale(anywhere, now, machine).empty();
  std::string name = holds_there ? program->second : std::string();
  return {std::move(record), std::move(why), std::move(name)};
}

Result<Record> read_record(const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file, largest_record, Code::cache_unusable));
  TRY_ASSIGN(const Json document, parse_json(text, path_text(file)));
  return record_from_json(document, path_text(file));
}

// Names a repair that is possible here: in a read-only folder someone else has to do it.
std::string unreadable_warning(const std::filesystem::path& file, const std::string& build, bool may_write) {
  const std::string text = path_text(file) + " is not a readable record and is ignored (";
  if (may_write)
    return text + "engine-cache quarantine clear " + build + " removes it; disable writes it again)";
  return text + "a user who may write in " + path_text(file.parent_path()) +
         " can remove it; engine-cache quarantine disable " + build + " disables the build for this user)";
}

// An unreadable record means that nothing is known, not that nothing is quarantined: the caller must not
// continue.
void describe_transient(Diagnosis failure, const std::filesystem::path& path, ReadResult& result) {
  result.warnings.push_back(path_text(path) + " cannot be read now (" +
                            std::string(failure.value(Key::os_said)) +
                            "): the quarantines in it are unknown");
  if (!result.failure) result.failure = std::move(failure);
}

// Removes a folder in a record's place, which would block every later record.
bool drop_folder(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(file, error))) return false;
  remove_tree(file, error);
  return !error;
}

}  // namespace

ReadResult read(const std::filesystem::path& state_folder, std::int64_t now, const Fingerprint* machine,
                bool may_write) {
  ReadResult result;
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_of(state_folder), error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == ending) files.push_back(at->path());
  const int number = error.default_error_condition().value();
  // A disabled build whose record cannot be read is used again, so there is always a warning.
  if (error && is_transient(number))
    describe_transient(
        diagnose_errno(Code::cache_unusable, number).with(Key::folder, path_text(folder_of(state_folder))),
        folder_of(state_folder), result);
  else if (error && error != std::errc::no_such_file_or_directory)
    result.warnings.push_back(path_text(folder_of(state_folder)) +
                              " cannot be read: the quarantines in it have no effect (" + error.message() +
                              ")");
  const auto sort_in = [&](Record&& record) {
    if (std::string why = why_stale(record, now, machine); !why.empty())
      result.stale.push_back(stale(std::move(record), std::move(why), now, machine));
    else
      result.history.records.insert_or_assign(record.build, record);
  };
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    auto record = read_record(file);
    if (!record && is_transient(record.error().value(Key::errno_))) {
      result.unreadable.push_back(build_of(file));
      describe_transient(std::move(record).error(), file, result);
      continue;
    }
    // One file is one build: a record for another build was put there by hand or is damaged.
    if (!record || file_name_of(record->build) != path_text(file.filename())) {
      result.unreadable.push_back(build_of(file));
      result.warnings.push_back(unreadable_warning(file, result.unreadable.back(), may_write));
      continue;
    }
    sort_in(std::move(*record));
  }
  // A record that could not be written is newer than the one on disk.
  for (auto& [build, record] : kept_in_memory(state_folder)) sort_in(std::move(record));
  return result;
}

void add_quarantined(ReadResult& own, ReadResult&& other) {
  for (auto& [build, record] : other.history.records) {
    if (record.state == State::proven) continue;
    const Record* known = own.history.find(build);
    if (known != nullptr && record.state != State::disabled &&
        (known->state == State::disabled || known->last_seen >= record.last_seen))
      continue;
    own.history.records.insert_or_assign(build, std::move(record));
  }
  for (Stale& stale : other.stale)
    if (stale.record.state != State::proven) own.stale.push_back(std::move(stale));
  if (!own.failure) own.failure = std::move(other.failure);
  std::move(other.warnings.begin(), other.warnings.end(), std::back_inserter(own.warnings));
}

std::optional<Record> read_one(const std::filesystem::path& state_folder, const std::string& build_id,
                               std::int64_t now, const Fingerprint* machine) {
  auto record = read_record(folder_of(state_folder) / file_name_of(build_id));
  if (auto kept = kept_in_memory(state_folder); kept.contains(build_id))
    record = std::move(kept.at(build_id));
  if (!record || record->build != build_id || !why_stale(*record, now, machine).empty()) return std::nullopt;
  return std::move(*record);
}

Result<void> write(const std::filesystem::path& state_folder, const Record& record) {
  drop_folder(folder_of(state_folder) / file_name_of(record.build));
  auto written = make_folders(folder_of(state_folder)).and_then([&] {
    // Not synced: a record lost in a power cut costs one more probe.
    return write_file(folder_of(state_folder) / file_name_of(record.build), to_json(record).dump(2) + "\n",
                      false);
  });
  if (written)
    drop_from_memory(state_folder, record.build);
  else
    keep_in_memory(state_folder, record);
  return written;
}

Result<bool> clear(const std::filesystem::path& state_folder, const std::string& build_id) {
  const std::filesystem::path file = folder_of(state_folder) / file_name_of(build_id);
  const bool kept = drop_from_memory(state_folder, build_id);
  if (drop_folder(file)) return true;
  if (calls::unlink(file.c_str()) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return kept;
  return fail(diagnose_errno(Code::folder_not_writable, errno)
                  .with(Key::file, path_text(file))
                  .with(Key::folder, path_text(file.parent_path())));
}

namespace {

constexpr State states[] = {State::proven,  State::unfit,       State::blocked,
                            State::suspect, State::quarantined, State::disabled};

Json stamp_to_json(const FileStamp& stamp) {
  return Json::array().push(stamp.device).push(stamp.inode).push(stamp.size).push(stamp.modified_ns);
}

}  // namespace

Json to_json(const Record& record) {
  Json host = Json::array(), dependency_stamps = Json::array();
  for (const auto& [name, value] : record.host) host.push(Json::array().push(name).push(value));
  for (const DependencyStamp& stamp : record.dependency_stamps) {
    Json one = Json::object().set("path", stamp.path).set("present", stamp.present);
    if (stamp.present) one.set("stamp", stamp_to_json(stamp.stamp));
    dependency_stamps.push(std::move(one));
  }
  Json document = Json::object().set("format", 1).set("build", record.build);
  if (!record.engine.empty()) document.set("engine", record.engine);
  document.set("digest", record.digest)
      .set("artifacts_digest", record.artifacts_digest)
      .set("state", name_of(record.state))
      .set("diagnosis", record.diagnosis)
      .set("host", std::move(host))
      .set("witnesses", std::move(dependency_stamps))
      .set("first_seen", record.first_seen)
      .set("last_seen", record.last_seen)
      .set("retry_after", record.retry_after)
      .set("count", record.count)
      .set("strikes", record.strikes)
      .set("program", record.program)
      .set("boot", record.boot)
      .set("facts", record.facts);
  return document;
}

Result<Record> record_from_json(const Json& document, std::string_view name) {
  const auto wrong = [&](const char* member, const char* problem) {
    return fail(diagnose(Code::member_wrong)
                    .with(Key::document, name)
                    .with(Key::member, member)
                    .with(Key::problem, problem));
  };
  if (document["format"].as_integer() != 1) return wrong("format", "is not 1");
  if (document["build"].as_string().empty()) return wrong("build", "is missing");
  Record record;
  record.build = document["build"].as_string();
  record.engine = document["engine"].as_string();
  record.digest = document["digest"].as_string();
  record.artifacts_digest = document["artifacts_digest"].as_string();
  bool known = false;
  for (const State state : states)
    if (document["state"].as_string() == name_of(state)) {
      record.state = state;
      known = true;
    }
  if (!known) return wrong("state", "is not one this version knows");
  record.diagnosis = document["diagnosis"];
  for (const Json& part : document["host"].as_array())
    if (part.as_array().size() == 2)
      record.host.emplace_back(part.as_array()[0].as_string(), part.as_array()[1].as_string());
  for (const Json& one : document["witnesses"].as_array()) {
    DependencyStamp dependency;
    dependency.path = one["path"].as_string();
    dependency.present = one["present"].as_bool();
    if (const auto& stamp = one["stamp"].as_array(); stamp.size() == 4) {
      dependency.stamp.device = static_cast<std::uint64_t>(stamp[0].as_integer());
      dependency.stamp.inode = static_cast<std::uint64_t>(stamp[1].as_integer());
      dependency.stamp.size = static_cast<std::uint64_t>(stamp[2].as_integer());
      dependency.stamp.modified_ns = stamp[3].as_integer();
    } else if (dependency.present) {
      return wrong("witnesses", "has no stamp");
    }
    record.dependency_stamps.push_back(std::move(dependency));
  }
  record.first_seen = document["first_seen"].as_integer();
  record.last_seen = document["last_seen"].as_integer();
  record.retry_after = document["retry_after"].as_integer();
  record.count = static_cast<int>(document["count"].as_integer());
  record.strikes = document["strikes"].as_number();
  record.program = document["program"].as_string();
  record.boot = document["boot"].as_string();
  record.facts = document["facts"];
  return record;
}

}  // namespace enginehost::history
