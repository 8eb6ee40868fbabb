#include "host/settings/records.hpp"

#include <cerrno>
#include <ctime>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::settings {
namespace {

constexpr std::uint64_t longest_file = std::uint64_t{1} << 30;

Diagnosis not_written(const std::filesystem::path& file, int error) {
  return std::move(diagnose_errno(code_of_write_error(error), error)
                       .with(Key::file, path_text(file))
                       .with(Key::folder, path_text(file.parent_path())));
}

// Returns true when the file does not end with the end of a line.
bool ends_in_a_line(int descriptor) {
  calls::Status status{};
  char last = '\n';
  return calls::fstat(descriptor, &status) == 0 && status.st_size > 0 &&
         calls::pread(descriptor, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

}  // namespace

std::string utc_now() { return text_of_time(std::time(nullptr)); }

std::string utc_text(std::int64_t seconds) {
  const std::string text = text_of_time(seconds);
  return text.substr(0, 10) + " " + text.substr(11, 8) + " UTC";
}

Result<void> check_record_file(const std::filesystem::path& file) {
  calls::Status status{};
  if (calls::stat(file.c_str(), &status) != 0 &&
      (calls::lstat(file.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)))
    return {};
  if (S_ISREG(status.st_mode)) return {};
  const char* const kind = S_ISDIR(status.st_mode)   ? "a folder"
                           : S_ISLNK(status.st_mode) ? "a link that leads nowhere"
                                                     : "a named pipe, a socket or a device";
  return fail(diagnose(Code::folder_not_writable)
                  .with(Key::place, "state")
                  .with(Key::file, path_text(file))
                  .with(Key::folder, path_text(file.parent_path()))
                  .with(Key::kind, kind)
                  .with(Key::in_the_way, path_text(file))
                  .with(Key::problem, path_text(file) + " is " + kind + ", and records are kept there"));
}

Result<void> append_line(const std::filesystem::path& file, std::string_view line) {
  TRY(make_folders(file.parent_path()));
  TRY(check_record_file(file));
  const FileDescriptor descriptor(
      calls::open(file.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!descriptor.valid()) return fail(not_written(file, errno));
  std::string text = ends_in_a_line(descriptor.get()) ? "\n" : "";
  text.append(line).push_back('\n');
  // Avoids the signal SIGXFSZ, which would end the application.
  if (calls::Status status{}; calls::fstat(descriptor.get(), &status) == 0 &&
                              static_cast<std::uint64_t>(status.st_size) + text.size() > file_size_limit())
    return fail(not_written(file, EFBIG));
  ssize_t written = 0;
  do written = calls::write(descriptor.get(), text.data(), text.size());
  while (written < 0 && errno == EINTR);
  if (written < 0) return fail(not_written(file, errno));
  if (static_cast<std::size_t>(written) != text.size()) return fail(not_written(file, ENOSPC));
  if (calls::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != EROFS)
    return fail(not_written(file, errno));
  return {};
}

Result<std::vector<std::string>> read_lines(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error) return std::vector<std::string>{};
  TRY(check_record_file(file));
  TRY_ASSIGN(const std::string text, read_file(file, longest_file));
  std::vector<std::string> lines = split(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace enginehost::settings
