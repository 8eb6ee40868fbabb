// Reads what a build requires of the machine.
#pragma once
#include "host/manifest/catalog.hpp"
#include "host/manifest/fields.hpp"

namespace enginehost::manifest {

// `place` is the object's place in the document, "builds[3].requires". Unknown requirements are kept with
// their JSON text; their check gives "unknown".
Requirements read_requirements(Reading& reading, const Json& object, std::string place);

}  // namespace enginehost::manifest
