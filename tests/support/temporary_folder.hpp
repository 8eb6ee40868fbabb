// A folder for one test; the destructor removes it.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace enginehost::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Creates the parents; throws when the file cannot be written, because a test cannot go on then.
void write_text(const std::filesystem::path& file, std::string_view text);
std::string read_text(const std::filesystem::path& file);

// Bytes that do not compress, the same for the same seed.
std::string noise(std::size_t size, unsigned seed = 1);

}  // namespace enginehost::test
