// How the helper answers its parent: one JSON document on file descriptor 3.
#pragma once
#include <string>

#include "base/files.hpp"
#include "base/json.hpp"

namespace enginehost::helper {

// Takes descriptor 3 away from its number, so that a library that prints or writes where it should not cannot
// reach it by accident. The nonce that the parent gave proves that the document is the helper's own. One
// thread.
class AnswerChannel {
 public:
  // `nonce` is repeated in the answer as the member "nonce".
  explicit AnswerChannel(std::string nonce);
  // False when the parent opened no descriptor 3 (the helper was started by hand), or when a library closed
  // what it did not open, the channel among it: the answer goes to stdout.
  bool private_channel() const { return channel_.valid() && !lost_; }
  // Where it writes, for a signal handler that can do no more than write(2).
  int descriptor() const;
  // Writes {"format":1,"nonce":…} and the members of `answer`. True when all of it was written.
  bool write(const Json& answer);

 private:
  std::string nonce_;
  FileDescriptor channel_;
  bool lost_ = false;
};

}  // namespace enginehost::helper
