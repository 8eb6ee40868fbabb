#include "host/catalog/cached_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::catalog {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t index_lifetime_seconds = 3600;
// Returns the age of a copy; without one, an age at which it would not serve.
std::int64_t age_of_copy(const fs::path& file, std::int64_t now) {
  return age_of(file, now).value_or(index_lifetime_seconds + 1);
}

}  // namespace

fs::path folder_of_copies(const cache::Store& store, const std::string& location) {
  if (store.root().empty()) return {};
  return store.root() / "repositories" / sha256_hex(location).substr(0, 32);
}

CachedReader::CachedReader(const CatalogRequest& request, const std::string& location,
                           SilentServers& silent_servers, CatalogOrigin& origin, bool spare_unreached)
    : folder_(folder_of_copies(request.store, location)),
      transfer_(request.transfer),
      silent_servers_(silent_servers),
      fetcher_(request.transfer, request.cancel),
      now_(request.now),
      origin_(origin),
      spare_unreached_(spare_unreached) {}

// Returns an age at which the copy would not serve if the server must be asked.
std::int64_t CachedReader::age_of_usable_copy(const std::string& location) const {
  return refetch_ ? index_lifetime_seconds + 1 : age_of_copy(place_of(location), now_);
}

void CachedReader::expect(const std::vector<manifest::Expected>& documents) {
  if (transfer_.offline) return;
  std::vector<manifest::Expected> wanted;
  for (const manifest::Expected& one : documents)
    if (!arrived_.contains(one.location) && age_of_usable_copy(one.location) > index_lifetime_seconds)
      wanted.push_back(one);
  if (!wanted.empty() && may_ask(wanted.front().location)) fetch(wanted);
}

Result<std::string> CachedReader::read(const std::string& location, std::uint64_t limit) {
  const fs::path kept = place_of(location);
  const std::int64_t age = age_of_usable_copy(location);
  if (!kept.empty()) origin_.documents.push_back(path_text(kept));
  const auto fresh_for = [&](std::int64_t seconds) {
    origin_.fresh_until = std::min(origin_.fresh_until, now_ + std::max<std::int64_t>(0, seconds));
  };
  if (age <= index_lifetime_seconds)
    if (auto bytes = read_file(kept, limit)) {
      fresh_for(index_lifetime_seconds - age);
      oldest_kept_ = std::max(oldest_kept_, age);
      return bytes;
    }
  auto fresh = ask(location, limit);
  fresh_for(fresh ? index_lifetime_seconds : 0);
  if (fresh) {
    fresh_[location] = *fresh;
    return fresh;
  }
  auto bytes = read_file(kept, limit);
  if (!bytes && fresh.error().code == Code::transfer_stalled && !std::exchange(reported_late_, true))
    warnings.push_back(location +
                       " was not sent in time (EH-N03): only installed and known builds are considered");
  if (!bytes) return fresh;
  // Offline, nothing was asked on purpose. Expiry (max_staleness_days) limits the age of a copy.
  if (location.ends_with("/index.json") && !transfer_.offline) {
    warnings.push_back(
        location + " could not be asked (" + std::string(fresh.error().code_text()) + "); the copy of " +
        pluralize(static_cast<std::uint64_t>(age_of_copy(kept, now_) / 3600), "hour", "hours") +
        " ago is used");
    origin_.unasked = std::move(fresh).error();
  }
  return bytes;
}

bool CachedReader::refetch() {
  fresh_.clear();
  arrived_.clear();
  warnings.clear();
  reported_late_ = false;
  refetch_ = true;
  spare_unreached_ = false;
  return !transfer_.offline;
}

// Only verified documents are kept, so that a wrong signature does not stay for an hour.
void CachedReader::accept() {
  // A copy that cannot be written does not prevent using the document.
  if (fresh_.empty() || folder_.empty() || !make_folders(folder_)) return;
  for (const auto& [location, bytes] : fresh_)
    static_cast<void>(write_file(place_of(location), bytes, false));
  fresh_.clear();
}

std::optional<std::string> CachedReader::kept(const std::string& sha256) {
  if (folder_.empty()) return std::nullopt;
  if (auto bytes = read_file(folder_ / sha256)) return std::move(*bytes);
  return std::nullopt;
}

void CachedReader::keep(const std::string& sha256, const std::string& bytes) {
  if (!folder_.empty() && make_folders(folder_))
    static_cast<void>(write_file(folder_ / sha256, bytes, false));
}

Result<std::string> CachedReader::ask(const std::string& location, std::uint64_t limit) {
  if (!arrived_.contains(location)) {
    if (!may_ask(location)) return fail(*silent_);
    fetch({{location, limit}});
  }
  return std::move(arrived_.extract(location).mapped());
}

// Returns false if the server is not asked because it did not answer, and stores why in silent_.
bool CachedReader::may_ask(const std::string& location) {
  if (silent_ || transfer_.offline || came_ > 0) return !silent_;
  if (spare_unreached_ && (silent_ = recently_unreached(note_of_unreached(), now_))) origin_.spared = true;
  // Another repository waited for this server just now.
  if (!silent_ && (silent_ = silent_servers_.find(location))) note_unreached(note_of_unreached(), *silent_);
  return !silent_;
}

// A slow repository must not keep installed builds from opening. All its documents together have twice the
// time limit of one document, and each document that arrives adds an eighth. A repository that sent nothing
// in time is not asked for the next document.
void CachedReader::fetch(const std::vector<manifest::Expected>& documents) {
  const Milliseconds eighth = transfer_.document_limit / 8;
  const Milliseconds time = 2 * transfer_.document_limit + came_ * eighth;
  std::vector<transfer::WantedDocument> wanted;
  for (const manifest::Expected& one : documents) wanted.push_back({one.location, one.limit});
  const auto began = std::chrono::steady_clock::now();
  auto answers =
      fetcher_.fetch(wanted, "application/json", {std::max(time - spent_, Milliseconds(1)), eighth});
  spent_ += std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - began);
  const bool is_first = came_ == 0;
  std::optional<Diagnosis> failure, late;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    Result<std::string>& bytes = answers[i];
    // Documents do not begin like a web page. The sign-in page of a network is not the publisher's mistake.
    const auto page = bytes ? transfer::title_of_page(bytes->substr(0, 4096)) : std::nullopt;
    if (page) {
      Diagnosis diagnosis = diagnose(Code::web_page_in_place_of_file).with(Key::url, wanted[i].url);
      if (!page->empty()) diagnosis.with(Key::title, *page, "the first bytes");
      bytes = fail(std::move(diagnosis));
    }
    if (bytes) ++came_;
    if (!bytes && !failure) failure = bytes.error();
    if (!bytes && bytes.error().code == Code::transfer_stalled && !late) late = bytes.error();
    arrived_.insert_or_assign(wanted[i].url, std::move(bytes));
  }
  if (late && (came_ == 0 || spent_ >= time)) silent_ = late;
  if (late && came_ == 0) silent_servers_.note(wanted.front().url, *late);
  if (transfer_.offline || !is_first) return;
  std::error_code ignored;
  if (came_ == 0)
    note_unreached(note_of_unreached(), *failure);
  else if (const fs::path note = note_of_unreached(); !note.empty())
    fs::remove(note, ignored);
}

// Returns the file that records why the first document could not be fetched.
fs::path CachedReader::note_of_unreached() const {
  return folder_.empty() ? fs::path() : folder_ / "unreached.json";
}

fs::path CachedReader::place_of(const std::string& location) const {
  return folder_.empty() ? fs::path() : folder_ / (sha256_hex(location).substr(0, 32) + ".json");
}

}  // namespace enginehost::catalog
