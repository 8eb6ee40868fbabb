// The probe's answer to its parent: one JSON document on file descriptor 3.
#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "base/file_calls.hpp"
#include "base/json.hpp"

namespace enginehost::helper {

// Moves descriptor 3 to another number, so that a library that writes to descriptors of others cannot reach
// it by accident. The nonce from the parent proves that the probe itself wrote the document. Any thread.
class AnswerChannel {
 public:
  // `nonce` is repeated in the answer as the member "nonce".
  explicit AnswerChannel(std::string nonce);
  // The descriptor that it writes to, for a signal handler that can only use write(2). It is stdout when the
  // parent opened no descriptor 3 (the probe was started by hand), or when a library closed the channel.
  int descriptor() const { return lost_ ? to_output_.number : to_channel_.number; }
  // Writes {"format":1,"nonce":…} and the members of `answer`. True when all of it reached the parent.
  bool write(const Json& answer);

 private:
  // A descriptor and the file that it led to at first: a library may have closed it and opened a file of its
  // own.
  struct Way {
    explicit Way(int descriptor);
    bool write(const std::string& text) const;

    int number;
    std::optional<calls::Status> led_to;  // none when the system does not report it
  };

  std::string nonce_;
  std::mutex writing_;  // a plugin's threads log while stages are reported
  Way to_channel_, to_output_;
  bool lost_;  // no channel, or no longer one
};

}  // namespace enginehost::helper
