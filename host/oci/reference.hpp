// References to artifacts in a registry, as people write them:
// "registry.example:5000/engines/torch@sha256:…".
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace enginehost::oci {

// HOST[:PORT]/NAME[:TAG][@sha256:DIGEST]. The host is mandatory: without a default registry, a name always
// means the same place.
struct Reference {
  std::string host;        // including the port, if written
  std::string repository;  // "engines/torch"
  std::string tag;         // may be empty
  std::string digest;      // 64 hexadecimal digits, or empty

  std::string text() const;
};

// Parses the grammar of the OCI distribution specification (names of lower-case parts, tags of up to 128
// characters). Error: EH-N35 with "reference" and "problem" for anything else; it names the algorithm of
// digests other than sha256.
Result<Reference> read_reference(std::string_view text);

// Returns true for localhost, 127.0.0.0/8 and [::1], with or without a port, because such traffic never
// leaves the machine.
bool is_loopback(std::string_view host);

}  // namespace enginehost::oci
