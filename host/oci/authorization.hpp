// The challenges in a 401 response of a registry, and the credentials for it, as `skopeo login`, `podman
// login` and `docker login` store them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/transfer/options.hpp"

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

// The files that are read, in order: $REGISTRY_AUTH_FILE, else $XDG_RUNTIME_DIR/containers/auth.json,
// ~/.config/containers/auth.json and $DOCKER_CONFIG/config.json or ~/.docker/config.json. These are the
// variables and places of the tools above.
std::vector<std::filesystem::path> credential_files();

// Returns user and password stored for exactly this HOST[:PORT], or nothing. Unreadable files count as empty.
// Programs that keep passwords (credHelpers, credsStore) are not started, because a configuration file must
// not choose programs for us to run.
std::optional<transfer::Authorization> credentials_in(std::string_view json, std::string_view host);
std::optional<transfer::Authorization> credentials_for(std::string_view host);

}  // namespace enginehost::oci
