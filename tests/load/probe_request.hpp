// Requests of the probe tests.
#pragma once
#include "host/load/probe.hpp"
#include "tests/faults/workshop.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::load {

// A request for a plugin of the workshop, whose folder is the view.
inline ProbeRequest probe_request(const faults::Workshop& workshop, const std::filesystem::path& plugin) {
  ProbeRequest request;
  request.helper = test::build_path("/libexec/enginehost/enginehost-probe");
  request.load.plugin = plugin;
  request.load.view = workshop.folder();
  return request;
}

}  // namespace enginehost::load
