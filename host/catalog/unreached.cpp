#include "host/catalog/unreached.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/acquire/pending.hpp"
#include "host/explain/explain.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::catalog {
namespace {

// A server that does not answer costs each open some seconds. Its return is noticed after this time.
constexpr std::int64_t lifetime_seconds = 300;

// `place`: as needed_servers() names it.
std::string server_of(const std::string& place) {
  return transfer::is_url(place) ? transfer::origin_of(place) : place;
}

// Returns the failure of a server for another build that needs it. The file that was asked for is none of its
// files.
Diagnosis as_failure_of(const manifest::Build& build, const std::string& place, const Diagnosis& failure) {
  const auto is_of_server = [](const Evidence& fact) {
    constexpr Key keys[] = {Key::host,    Key::os_said, Key::curl_said,    Key::errno_,  Key::index,
                            Key::seconds, Key::proxy,   Key::proxy_set_by, Key::answered};
    return std::ranges::find(keys, fact.what) != std::end(keys);
  };
  Diagnosis same = diagnose(failure.code);
  std::ranges::copy_if(failure.evidence, std::back_inserter(same.evidence), is_of_server);
  same.with(Key::url,
            transfer::is_url(place) ? transfer::origin_of(place) : std::string(failure.value(Key::index)));
  return std::move(same.within("while opening " + build.id));
}

}  // namespace

bool is_unreached(const Diagnosis& failure) {
  return failure.code == Code::host_not_found || failure.code == Code::no_connection ||
         failure.code == Code::transfer_stalled || failure.code == Code::proxy_not_reached;
}

std::optional<std::int64_t> age_of(const std::filesystem::path& file, std::int64_t now) {
  const auto stamp = stamp_of(file);
  if (!stamp) return std::nullopt;
  return std::max<std::int64_t>(0, now - stamp->modified_ns / 1'000'000'000);
}

std::optional<Diagnosis> recently_unreached(const std::filesystem::path& note, std::int64_t now) {
  if (note.empty() || age_of(note, now).value_or(lifetime_seconds + 1) > lifetime_seconds) return {};
  const auto text = read_file(note, 1u << 20);
  const auto document = text ? parse_json(*text, path_text(note)) : fail(text.error());
  if (!document) return {};
  Diagnosis failure = explain::diagnosis_from_json(*document);
  return is_unreached(failure) ? std::optional<Diagnosis>(std::move(failure)) : std::nullopt;
}

void note_unreached(const std::filesystem::path& note, const Diagnosis& failure) {
  if (!note.empty() && is_unreached(failure) && make_folders(note.parent_path()))
    static_cast<void>(write_file(note, explain::to_json(failure).dump(), false));
}

void SilentServers::note(const std::string& url, const Diagnosis& why) {
  const std::lock_guard lock(mutex_);
  failures_.emplace(!why.value(Key::index).empty() ? std::string(acquire::package_indexes) : server_of(url),
                    why);
}

std::optional<Diagnosis> SilentServers::find(const std::string& url) const {
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(server_of(url));
  return found != failures_.end() ? std::optional(found->second) : std::nullopt;
}

std::optional<Diagnosis> SilentServers::find(const manifest::Build& build, const cache::Store& store) const {
  for (const std::string& place : acquire::needed_servers(build, store))
    if (const auto failure = find(place)) return as_failure_of(build, place, *failure);
  return {};
}

}  // namespace enginehost::catalog
