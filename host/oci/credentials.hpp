// Credentials for a registry, as `skopeo login`, `podman login` and `docker login` store them.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/transfer/options.hpp"

namespace enginehost::oci {

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
