// The location of a repository as text: an absolute folder or a URL. One location has many spellings. Decisions that
// compare the text (accepted keys, earlier visits, policy) must not be evaded by another spelling. Thread safety: any
// thread.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace enginehost {

bool is_url(std::string_view location);  // http:// or https://, in letters of either case

// Returns the canonical spelling, which is safe to store and to read from. A folder loses ".", ".." and redundant
// separators. A URL is normalized as an HTTP client does (lower-case scheme and host, no default port, no "." and ".."
// elements, no escapes that change nothing). Neither ends with a separator. Other text (the name that a bundle gives)
// stays as it is. Links are not followed, so that a link that changes its target stays the same location. The only
// exception is ".." after a link: the link is then replaced by its current target.
std::string plain_location(std::string_view location);

// Returns the text that locations are compared by; do not read from it. It also unifies what most servers and file
// systems treat as equal: "//" in a URL, "%72" for "r", "example.org." for "example.org", and letter case in a folder
// of Windows. It has no user and password, and folders have "/" on every system.
std::string identity_of_location(std::string_view location);

// Returns why servers disagree about the place that the URL of a repository or a mirror names: an encoded slash, a
// backslash, "..;", a second encoding, a query. Such a URL can be compared with none, and is refused. Empty for a folder
// and for a URL that names one place.
std::string ambiguity_of(std::string_view location);

// Returns what stands behind `folder` in the URL of something below it, however both are written, with the query.
// Nothing if the URL is not below it, or if a server might read it as leading out.
std::optional<std::string> rest_below(std::string_view url, std::string_view folder);

// Returns what is wrong with the location of an index of Python packages. Empty for a URL (also file:///) and an
// absolute folder.
std::string not_an_index(std::string_view location);

}  // namespace enginehost
