// Notes that a server did not answer, so that the next opens do not wait for it again.
//
// A note is a file with the failure. It counts for five minutes. A note that cannot be written or read only
// costs the wait again. Any thread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/diagnosis.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::catalog {

// Returns true if the failure means that no server answered: EH-N01, EH-N02, EH-N03 or EH-N19.
bool is_unreached(const Diagnosis& failure);

// Returns the age of the file in seconds. A time in the future counts as now. Nothing if there is no such
// file.
std::optional<std::int64_t> age_of(const std::filesystem::path& file, std::int64_t now);

// Returns the failure of a note that still counts. `note` may be empty: there is none.
std::optional<Diagnosis> recently_unreached(const std::filesystem::path& note, std::int64_t now);
// Writes the note and its folder. Does nothing with an empty path or another failure.
void note_unreached(const std::filesystem::path& note, const Diagnosis& failure);

// Why servers did not answer during one open. They are not asked again, which would take as long for nothing.
// A server is a scheme, a host and a port; the package indexes are one server, because all of them are asked
// for each file. Any thread.
class SilentServers {
 public:
  // `url`: any URL of the server.
  void note(const std::string& url, const Diagnosis& why);
  std::optional<Diagnosis> find(const std::string& url) const;
  // Returns the failure of a server that must answer for the missing parts of the build.
  std::optional<Diagnosis> find(const manifest::Build& build, const cache::Store& store) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Diagnosis> failures_;  // by server
};

}  // namespace enginehost::catalog
