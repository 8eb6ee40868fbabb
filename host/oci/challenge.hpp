// The authentication challenges in a 401 response.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace enginehost::oci {

// One challenge of a WWW-Authenticate header (RFC 9110, 11.6.1).
struct Challenge {
  std::string scheme;                                           // in lower case: "bearer", "basic"
  std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case, values without quotes
  // Returns the value, or an empty text.
  const std::string& operator[](std::string_view name) const;
};

// Returns the challenges of one header, in order. The list ends at the first part that cannot be read,
// because a server's malformed header is no reason to fail. At most 8 challenges with 16 parameters each.
std::vector<Challenge> read_challenges(std::string_view header);

}  // namespace enginehost::oci
