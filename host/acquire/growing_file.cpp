#include "host/acquire/growing_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace enginehost::acquire {

Diagnosis GrowingFile::failure(int error_number) const {
  return std::move(diagnose_errno(code_of_write_error(error_number), error_number)
                       .with("file", path_.native())
                       .with("folder", folder_.native()));
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::open(const std::filesystem::path& file,
                                                       const std::filesystem::path& cache_folder) {
  std::unique_ptr<GrowingFile> result(new GrowingFile);
  result->path_ = file;
  result->folder_ = cache_folder;
  result->file_ = FileDescriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!result->file_.valid()) return fail(result->failure(errno));
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  result->file_limit_ = limited ? limit.rlim_cur : UINT64_MAX;
  std::vector<char> buffer(1u << 20);
  std::uint64_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(result->file_.get(), buffer.data(), buffer.size(), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(result->failure(errno));
    if (got == 0) break;
    result->hash_.update(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    at += static_cast<std::uint64_t>(got);
  }
  result->size_ = at;
  return result;
}

Result<void> GrowingFile::start(std::uint64_t offset) {
  if (offset == size_) return {};
  const std::lock_guard lock(mutex_);
  if (::ftruncate(file_.get(), 0) != 0) return fail(failure(errno));
  hash_ = Sha256();
  size_ = 0;
  ++generation_;
  grown_.notify_all();
  return {};
}

Result<void> GrowingFile::write(std::string_view bytes) {
  const std::uint64_t at = size_;
  if (at + bytes.size() > file_limit_)  // SIGXFSZ would end the process
    return fail(std::move(failure(EFBIG).with("limit", std::to_string(file_limit_), "RLIMIT_FSIZE")));
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t written = ::pwrite(file_.get(), rest.data(), rest.size(),
                                     static_cast<off_t>(at + (bytes.size() - rest.size())));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(failure(errno));
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  hash_.update(bytes);
  const std::lock_guard lock(mutex_);
  if (stop_) return fail(*stop_);
  size_ = at + bytes.size();
  grown_.notify_all();
  return {};
}

void GrowingFile::complete() {
  const std::lock_guard lock(mutex_);
  complete_ = true;
  grown_.notify_all();
}

void GrowingFile::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  grown_.notify_all();
}

void GrowingFile::stop_receiving(Diagnosis diagnosis) {
  const std::lock_guard lock(mutex_);
  if (!stop_) stop_ = std::move(diagnosis);
}

std::int64_t GrowingFile::read(std::uint64_t at, char* buffer, std::size_t size, std::uint64_t generation) {
  std::uint64_t available = 0;
  {
    std::unique_lock lock(mutex_);
    grown_.wait(lock, [&] { return abandoned_ || complete_ || generation_ != generation || size_ > at; });
    if (abandoned_ || generation_ != generation) return -1;
    available = size_ > at ? size_ - at : 0;
  }
  if (available == 0) return 0;
  for (;;) {
    const ssize_t got =
        ::pread(file_.get(), buffer, std::min<std::uint64_t>(size, available), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    // Truncated under us means started anew; the next call says so.
    if (got == 0) {
      const std::lock_guard lock(mutex_);
      return generation_ != generation ? -1 : 0;
    }
    return got;
  }
}

std::uint64_t GrowingFile::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

bool GrowingFile::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

bool GrowingFile::wait_until_settled(std::uint64_t generation) {
  std::unique_lock lock(mutex_);
  grown_.wait(lock, [&] { return abandoned_ || complete_ || generation_ != generation; });
  return generation_ == generation;
}

std::string GrowingFile::head(std::size_t size) const {
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

void GrowingFile::remove() { ::unlink(path_.c_str()); }

}  // namespace enginehost::acquire
