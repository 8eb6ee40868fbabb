// Reads zip archives while they arrive and inflates them with ISA-L, about twice as fast as zlib, which
// libarchive uses (docs/decisions/026-inflate.md).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::acquire {

// Returns false if built without ISA-L; read_zip_stream then refuses every archive.
bool has_zip_stream();

// Returns up to `size` bytes and waits for some; 0 at the end, negative if reading must stop.
using ZipSource = std::function<std::int64_t(char* buffer, std::size_t size)>;

// Receives the files. An error of any function ends the reading.
struct ZipSink {
  // Begins an entry with its full name, also a folder ("…/"). Returns true if its data is wanted.
  std::function<Result<bool>(const std::string& name)> begin;
  std::function<Result<void>(std::string_view bytes)> write;
  std::function<Result<void>()> end;
};

// Reads local headers and their data up to the directory. Lengths and checksums of wanted data must match the
// header; check_zip compares the directory. EH-F21 ("problem"): the archive has anything but ordinary stored
// or deflated entries whose length precedes them, or broken data. libarchive may still read such an archive
// and decides. EH-P10: the source stopped.
Result<void> read_zip_stream(const ZipSource& source, const ZipSink& sink);

}  // namespace enginehost::acquire
