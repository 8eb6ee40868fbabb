#include "host/load/helper/answer_channel.hpp"

#include <cerrno>
#include <utility>

#include "base/file_calls.hpp"
#include "host/load/helper/this_process.hpp"

namespace enginehost::helper {
namespace {

bool write_all(int to, const std::string& text) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t more = calls::write(to, text.data() + written, text.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace

AnswerChannel::AnswerChannel(std::string nonce)
    : nonce_(std::move(nonce)), channel_(take_private_channel()) {}

int AnswerChannel::descriptor() const {
  constexpr int standard_output = 1;
  return private_channel() ? channel_.get() : standard_output;
}

bool AnswerChannel::write(const Json& answer) {
  Json document = Json::object();
  document.set("format", 1).set("nonce", nonce_);
  for (const auto& [name, value] : answer.as_object()) document.set(name, value);
  const std::string text = document.dump() + "\n";
  if (write_all(descriptor(), text)) return true;
  if (!private_channel()) return false;
  lost_ = true;
  // Beside what libraries print: on a line of its own.
  return write_all(descriptor(), "\n" + text);
}

}  // namespace enginehost::helper
