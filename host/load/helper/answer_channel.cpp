#include "host/load/helper/answer_channel.hpp"

#include <cerrno>
#include <utility>

#include "base/file_calls.hpp"
#include "host/load/helper/this_process.hpp"

namespace enginehost::helper {

AnswerChannel::AnswerChannel(std::string nonce)
    : nonce_(std::move(nonce)), channel_(take_private_channel()) {}

int AnswerChannel::descriptor() const {
  constexpr int standard_output = 1;
  return channel_.valid() ? channel_.get() : standard_output;
}

bool AnswerChannel::write(const Json& answer) {
  Json document = Json::object();
  document.set("format", 1).set("nonce", nonce_);
  for (const auto& [name, value] : answer.as_object()) document.set(name, value);
  const std::string text = document.dump() + "\n";
  const int to = descriptor();
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t more = calls::write(to, text.data() + written, text.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace enginehost::helper
