#include <algorithm>
#include <cerrno>
#include <chrono>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/transfer/progress.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

Result<TransferReport> fetch_file(const std::filesystem::path& file,
                                  std::optional<std::uint64_t> expected_size, Sink& sink,
                                  const ProgressCallback& progress,
                                  const std::optional<CancelToken>& cancel) {
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(const FileDescriptor opened, open_to_read(file, "EH-N14"));
  calls::Status status{};
  if (calls::fstat(opened.get(), &status) != 0)
    return fail(diagnose_errno("EH-N14", errno).with("file", path_text(file)));
  if (!S_ISREG(status.st_mode))
    return fail(diagnose("EH-N14").with("file", path_text(file)).with("problem", "not a regular file"));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto wrong_length = [&](std::uint64_t actual) {
    return fail(diagnose("EH-N07")
                    .with("file", path_text(file))
                    .with("expected", std::to_string(*expected_size))
                    .with("actual", std::to_string(actual)));
  };
  if (expected_size && size != *expected_size) return wrong_length(size);
  std::uint64_t position = sink.held() <= size ? sink.held() : 0;
  TRY(sink.start(position));
  TransferReport report;
  report.url = path_text(file);
  report.attempts = 1;
  report.resumed_at = position;
  Meter meter(progress, Progress::Phase::downloading, path_text(file));
  meter.expect(size);
  std::vector<char> buffer(1u << 20);
  while (position < sink.wanted_until()) {
    if (cancel && cancel->canceled()) return fail(diagnose("EH-P10").with("file", path_text(file)));
    const ssize_t got =
        calls::pread(opened.get(), buffer.data(), buffer.size(), static_cast<calls::Offset>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(diagnose_errno("EH-N14", errno).with("file", path_text(file)));
    if (got == 0) break;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    // The file grows while it is read, or has no real size.
    if (expected_size && bytes.size() > *expected_size - position)
      return wrong_length(position + bytes.size());
    bytes = bytes.substr(0, sink.wanted_until() - position);
    if (position < 4096) report.head.append(bytes.substr(0, 4096 - position));
    TRY(sink.write(bytes));
    position += bytes.size();
    report.received += bytes.size();
    meter.at(position);
  }
  if (expected_size && position < std::min(*expected_size, sink.wanted_until()))
    return wrong_length(position);
  report.size = size;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  meter.at(position, true);
  return report;
}

}  // namespace enginehost::transfer
