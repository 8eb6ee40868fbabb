// Who we are to a registry: what `skopeo login`, `podman login` and `docker login` leave behind.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/transfer/options.hpp"

namespace enginehost::oci {

// The files asked, in order: $REGISTRY_AUTH_FILE, else $XDG_RUNTIME_DIR/containers/auth.json,
// ~/.config/containers/auth.json and $DOCKER_CONFIG/config.json or ~/.docker/config.json: the variables and
// places that users of these tools know.
std::vector<std::filesystem::path> credential_files();

// User and password written down for exactly this HOST[:PORT]; nothing when none is. Files that cannot be
// read count as empty. Programs that keep passwords (credHelpers, credsStore) are not asked: a configuration
// file names no program that we would run.
std::optional<transfer::Authorization> credentials_in(std::string_view json, std::string_view host);
std::optional<transfer::Authorization> credentials_for(std::string_view host);

}  // namespace enginehost::oci
