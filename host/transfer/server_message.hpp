// The reason that a server gives in the body of an error.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"

namespace enginehost::transfer {

// The longest message, in bytes.
constexpr std::size_t longest_server_message = 300;

// Returns the reason in the body of an error answer: the title of a web page; of JSON the first message
// ("errors", "message", "detail", "error" and the like); of XML the <Message>; plain text. One
// line without control characters, cut at longest_server_message. Empty if there is none. Any thread.
std::string message_of_server(std::string_view body);

// Adds what came in place of a file, as far as its beginning shows it: "git_lfs" for the pointer that Git
// keeps in place of a large file, "says" for a short text. `size`: of all that came.
void add_what_came(Diagnosis& diagnosis, std::string_view head, std::uint64_t size);

}  // namespace enginehost::transfer
