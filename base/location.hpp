// Where a repository lies, as text: an absolute folder or a URL. One place can be written in many ways, and
// whoever decides by the text (whose keys count, what was seen before, what the policy allows) must not be
// led past the decision by another spelling. Any thread.
#pragma once
#include <string>
#include <string_view>

namespace enginehost {

bool is_url(std::string_view location);  // http:// or https://, in letters of any size

// The spelling to keep and to read by, which surely leads to the same place: a folder without ".", "..", and
// separators that say nothing; a URL as an HTTP client makes it before it asks (scheme and host in small
// letters, no default port, no "." and ".." elements). Neither ends with a separator. What is neither (the
// name that a bundle gives) stays as it is. Links are not followed: a link that changes its target stays the
// same place. Only where ".." leads out of a link the file system is asked, and the link gives way to the
// folder that it leads to now.
std::string plain_location(std::string_view location);

// What places are compared by; not to be read by. Also what only most servers and file systems take for the
// same is the same here: "//" in a URL, "%72" for "r", "example.org." for "example.org", the size of letters
// in a folder of Windows. Without user and password; folders with "/" on every system.
std::string identity_of_location(std::string_view location);

}  // namespace enginehost
