// JSON of devices, and of the messages between the probe and its parent.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/load.hpp"

namespace enginehost::load {

// Exit status of a probe whose answer channels were all closed.
inline constexpr int status_without_answer = 97;

// In a request's list of devices that are not tested: all accelerators.
inline constexpr std::string_view every_accelerator = "*";

// Transfers code and evidence; the parent makes the sentences.
Json diagnosis_to_wire(const Diagnosis& diagnosis);
Diagnosis diagnosis_from_wire(const Json& wire);

Json pairs_to_wire(const std::vector<std::pair<std::string, std::string>>& pairs);
std::vector<std::pair<std::string, std::string>> pairs_from_wire(const Json& wire);

// Returns the device as the documents of the commands have it.
Json to_json(const Device& device);
// Adds the numbers that only programs need.
Json devices_to_wire(const std::vector<Device>& devices);
std::vector<Device> devices_from_wire(const Json& wire);

Json libraries_to_wire(const std::vector<Library>& libraries);
std::vector<Library> libraries_from_wire(const Json& wire);

// Handle the members "plugin", "view" and "preload" of the request.
void add_load_request(Json& request, const LoadRequest& load);
LoadRequest load_request_from_json(const Json& request);

}  // namespace enginehost::load
