// The child's side of host/load/probe.hpp. Small: no network, no cryptography, no resolver.
#pragma once

namespace enginehost::load {

// `enginehost-probe probe [--audit NONCE]`: reads the request, one JSON document, from standard input. Writes
// one JSON line for each stage to file descriptor 3. Success is only the request's nonce. Returns the exit
// status.
int run_probe(int argc, char** argv);

}  // namespace enginehost::load
