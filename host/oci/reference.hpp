// Where something lies in a registry, as people write it: "registry.example:5000/engines/torch@sha256:…".
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::oci {

// HOST[:PORT]/NAME[:TAG][@sha256:DIGEST]. The host is always written: there is no default registry, so that a
// name never comes to mean another place.
struct Reference {
  std::string host;        // with its port, when one is written
  std::string repository;  // "engines/torch"
  std::string tag;         // may be empty
  std::string digest;      // 64 hexadecimal digits, or empty

  std::string text() const;
};

// The grammar is that of the OCI distribution specification (names of lower-case parts, tags of up to 128
// characters). EH-N35 with "reference" and "problem" for anything else; digests other than sha256 are refused
// by name.
Result<Reference> read_reference(std::string_view text);

// True for localhost, 127.0.0.0/8 and [::1], with or without a port: bytes that never leave the machine.
bool is_loopback(std::string_view host);

}  // namespace enginehost::oci
