// A wheel of the package index, read by ranges: its directory, its RECORD and its METADATA.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/acquire/acquire.hpp"
#include "host/acquire/partial_zip.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/metadata.hpp"

namespace enginehost::follow {

// Returns EH-M19: the release is not as the plan describes it. `file`: the wheel, or empty.
Diagnosis not_as_planned(const std::string& project, const std::string& version, const std::string& file,
                         const std::string& problem, const std::string& remedy);

// A file of the wheel's directory.
struct Member {
  std::uint64_t size = 0;
  bool executable = false, link = false;
  std::string sha256;  // as RECORD states it; empty: it does not, or names another size
};

struct Wheel {
  PublishedFile published;
  std::uint64_t size = 0;                 // of the archive
  std::map<std::string, Member> members;  // by path, without folders
  Metadata metadata;
  std::shared_ptr<acquire::PartialZip> zip;
  const acquire::ZipDirectory& directory() const { return zip->directory(); }
};

// Bytes that were fetched of a wheel.
struct ReadArchive {
  std::string file;
  std::uint64_t size = 0;     // of the archive
  std::uint64_t fetched = 0;  // bytes that came of it: directory, small files and payload
  bool whole = false;         // its payload was read whole
};

// Reads wheels below a folder of its own. Each is read once for the life of this object. One thread.
class WheelReader {
 public:
  // `scratch` is removed by the destructor.
  WheelReader(std::filesystem::path scratch, acquire::AcquireOptions options,
              std::optional<CancelToken> cancel);
  const acquire::AcquireOptions& options() const { return options_; }
  ~WheelReader();
  WheelReader(const WheelReader&) = delete;
  WheelReader& operator=(const WheelReader&) = delete;

  // Errors: EH-M19 if the archive is broken or refused, has a name twice, has no RECORD or METADATA that can
  // be read, or METADATA names another project or version than the file's name. Those of fetches and of
  // the disk. The index states no digest, or another size than the server: EH-M19.
  Result<std::shared_ptr<const Wheel>> read(const PublishedFile& file);

  // Returns the bytes of one member, compared with RECORD. Errors as read(); EH-M19 for a member of more than
  // 16 MiB or with other bytes than RECORD states.
  Result<std::string> text_of(const Wheel& wheel, const std::string& path);

  // Counts the payload of a wheel that read() returned.
  void add_payload(const Wheel& wheel, std::uint64_t fetched, bool whole);
  // Returns each wheel that was opened, also one that was refused then, by name.
  std::vector<ReadArchive> archives() const;
  std::uint64_t fetched() const;  // bytes that came, until now

 private:
  struct Opened {
    std::shared_ptr<const Wheel> wheel;
    std::uint64_t payload = 0;
    bool whole = false;
  };
  Result<std::map<std::string, std::string>> small_members(const Wheel& wheel,
                                                           const std::vector<std::string>& paths);
  Result<std::shared_ptr<const Wheel>> read_new(const PublishedFile& file);

  std::filesystem::path scratch_;
  const acquire::AcquireOptions options_;
  std::optional<CancelToken> cancel_;
  std::map<std::string, std::shared_ptr<const Wheel>> known_;  // by digest
  std::vector<Opened> opened_;
  int numbered_ = 0;
};

}  // namespace enginehost::follow
