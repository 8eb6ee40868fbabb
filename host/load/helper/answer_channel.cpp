#include "host/load/helper/answer_channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace enginehost::helper {

AnswerChannel::AnswerChannel(std::string nonce) : nonce_(std::move(nonce)) {
  constexpr int given = 3, out_of_reach = 200;
  // Started by hand, 3 may be any file of the caller's: only a pipe or socket is a parent that listens.
  if (::lseek(given, 0, SEEK_CUR) >= 0 || errno != ESPIPE) return;
  channel_ = FileDescriptor(::fcntl(given, F_DUPFD_CLOEXEC, out_of_reach));
  if (channel_.valid()) ::close(given);
}

bool AnswerChannel::write(const Json& answer) {
  Json document = Json::object();
  document.set("format", 1).set("nonce", nonce_);
  for (const auto& [name, value] : answer.as_object()) document.set(name, value);
  const std::string text = document.dump() + "\n";
  const int to = channel_.valid() ? channel_.get() : STDOUT_FILENO;
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t more = ::write(to, text.data() + written, text.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace enginehost::helper
