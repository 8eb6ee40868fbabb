#include "host/load/helper/answer_channel.hpp"

#include <cerrno>
#include <utility>

#include "base/file_calls.hpp"
#include "host/load/helper/this_process.hpp"

namespace enginehost::helper {
namespace {

constexpr int standard_output = 1;

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

AnswerChannel::Way::Way(int descriptor) : number(descriptor) {
  calls::Status status{};
  if (number >= 0 && calls::fstat(number, &status) == 0) led_to = status;
}

bool AnswerChannel::Way::write(const std::string& text) const {
  calls::Status now{};
  if (led_to &&
      (calls::fstat(number, &now) != 0 || now.st_dev != led_to->st_dev || now.st_ino != led_to->st_ino ||
       now.st_mode != led_to->st_mode))  // Windows reports nothing more about what is no file
    return false;
  return write_all(number, text);
}

AnswerChannel::AnswerChannel(std::string nonce)
    : nonce_(std::move(nonce)),
      to_channel_(take_private_channel()),
      to_output_(standard_output),
      lost_(to_channel_.number < 0) {}

bool AnswerChannel::write(const Json& answer) {
  Json document = Json::object();
  document.set("format", 1).set("nonce", nonce_);
  for (const auto& [name, value] : answer.as_object()) document.set(name, value);
  const std::string text = document.dump() + "\n";
  const std::lock_guard lock(writing_);
  if (!lost_ && to_channel_.write(text)) return true;
  lost_ = true;
  // On a line of its own, because libraries may print to the same stream.
  return to_output_.write(to_channel_.number < 0 ? text : "\n" + text);
}

}  // namespace enginehost::helper
