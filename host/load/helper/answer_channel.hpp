// How the helper answers its parent: one JSON document on file descriptor 3.
#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/json.hpp"

namespace enginehost::helper {

// Takes descriptor 3 away from its number, so that a library that prints or writes where it should not cannot
// reach it by accident. The nonce that the parent gave proves that the document is the helper's own. Any
// thread.
class AnswerChannel {
 public:
  // `nonce` is repeated in the answer as the member "nonce".
  explicit AnswerChannel(std::string nonce);
  // False when the parent opened no descriptor 3 (the helper was started by hand), or when a library closed
  // what it did not open, the channel among it: the answer goes to stdout, as long as that is what it was.
  bool private_channel() const { return channel_.valid() && !lost_; }
  // Where it writes, for a signal handler that can do no more than write(2).
  int descriptor() const;
  // Writes {"format":1,"nonce":…} and the members of `answer`. True when all of it was written to whom it is
  // for.
  bool write(const Json& answer);

 private:
  // A descriptor's number, and what it led to at first: a library may have closed it and opened a file of its
  // own.
  struct Way {
    explicit Way(int descriptor);
    bool write(const std::string& text) const;

    int number;
    std::optional<calls::Status> led_to;  // none where the system does not tell
  };

  std::string nonce_;
  std::mutex writing_;  // a plugin's threads log while its stages are told
  FileDescriptor channel_;
  Way to_channel_, to_output_;
  bool lost_ = false;
};

}  // namespace enginehost::helper
