// What probe and parent say to each other, as JSON.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// What the helper ends with when all that it could answer on was closed under it.
inline constexpr int status_without_answer = 97;

// Code and evidence; sentences are made by the parent.
Json diagnosis_to_wire(const Diagnosis& diagnosis);
Diagnosis diagnosis_from_wire(const Json& wire);

Json pairs_to_wire(const std::vector<std::pair<std::string, std::string>>& pairs);
std::vector<std::pair<std::string, std::string>> pairs_from_wire(const Json& wire);

Json devices_to_wire(const std::vector<Device>& devices);
std::vector<Device> devices_from_wire(const Json& wire);

Json libraries_to_wire(const std::vector<Library>& libraries);
std::vector<Library> libraries_from_wire(const Json& wire);

// The members "plugin", "view" and "preload" of the request.
void add_load_request(Json& request, const LoadRequest& load);
LoadRequest load_request_from_json(const Json& request);

}  // namespace enginehost::load
