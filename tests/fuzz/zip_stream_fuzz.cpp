// Zip archives as they arrive.
#include <algorithm>
#include <cstring>

#include "host/acquire/zip_stream.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace enginehost;
  std::size_t at = 0;
  std::uint64_t written = 0;
  bool inside = false;
  const acquire::ZipSource source = [&](char* buffer, std::size_t room) {
    // Pieces of changing length, so that headers and data are cut anywhere.
    const std::size_t some = std::min({room, size - at, at % 61 + 1});
    std::memcpy(buffer, data + at, some);
    at += some;
    return static_cast<std::int64_t>(some);
  };
  acquire::ZipSink sink;
  sink.begin = [&](const std::string& name) -> Result<bool> {
    fuzz::require(!inside && !name.empty());
    inside = name.size() % 3 != 0;
    return inside;
  };
  sink.write = [&](std::string_view bytes) -> Result<void> {
    fuzz::require(inside);
    written += bytes.size();
    return {};
  };
  sink.end = [&]() -> Result<void> {
    fuzz::require(inside);
    inside = false;
    return {};
  };
  const auto read = acquire::read_zip_stream(source, sink);
  fuzz::require(read || read.error().code == Code::archive_not_unpacked);
  // Deflate makes at most 1032 bytes of one.
  fuzz::require(written <= 1032 * size);
  return 0;
}
