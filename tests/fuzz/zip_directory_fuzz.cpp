// The directory of a zip archive, compared with its headers.
#include <fcntl.h>
#include <unistd.h>

#include "host/acquire/zip_directory.hpp"
#include "tests/fuzz/input_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path path = enginehost::fuzz::as_file(data, size);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  enginehost::fuzz::require(file >= 0);
  const auto directory = enginehost::acquire::read_zip_directory(file, size);
  if (directory) {
    enginehost::acquire::Unpacked met;
    for (const auto& entry : directory->entries) met.entries.push_back({entry.name, entry.name});
    const auto checked = enginehost::acquire::check_zip(file, size, directory->entries, met);
    // A consistent archive holds its data, each byte once.
    std::uint64_t packed = 0;
    for (const auto& entry : directory->entries) packed += entry.packed;
    enginehost::fuzz::require(!checked || packed <= size);
  }
  ::close(file);
  return 0;
}
