// Zip archives while they arrive, inflated by ISA-L: about twice as fast as zlib, which libarchive uses
// (docs/decisions/026-inflate.md).
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::acquire {

// False where the build has no ISA-L: read_zip_stream then gives every archive up.
bool has_zip_stream();

// Where bytes come from: up to `size`, waiting for some; 0 at the end, below 0 when nothing more is wanted.
using ZipSource = std::function<std::int64_t(char* buffer, std::size_t size)>;

// Where files go. An error of any ends the reading with it.
struct ZipSink {
  // An entry under its full name, also a folder ("…/"); whether its data is wanted.
  std::function<Result<bool>(const std::string& name)> begin;
  std::function<Result<void>(std::string_view bytes)> write;
  std::function<Result<void>()> end;
};

// Reads local headers and their data up to the directory; lengths and checksums of wanted data must be those
// that the header names. What the directory says is check_zip's to compare. EH-F21 ("problem"): anything else
// than ordinary stored or deflated entries whose length comes before them, broken data among it; libarchive
// may still read it, and has the last word. EH-P10: the source wants no more.
Result<void> read_zip_stream(const ZipSource& source, const ZipSink& sink);

}  // namespace enginehost::acquire
