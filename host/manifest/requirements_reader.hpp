// Reads what a build requires of the machine.
#pragma once
#include "host/manifest/catalog.hpp"
#include "host/manifest/fields.hpp"

namespace enginehost::manifest {

// `place` is that of the object in the document, "builds[3].requires". A requirement nobody knows is kept
// with its JSON text: its check will be "unknown".
Requirements read_requirements(Reading& reading, const Json& object, std::string place);

}  // namespace enginehost::manifest
