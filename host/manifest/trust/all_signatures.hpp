// Reads the signatures and roots that a copy of a signed repository needs.
#pragma once
#include "host/manifest/trust/signed_repository.hpp"

namespace enginehost::manifest {

// A machine that knows the repository skips some files: signatures of a root it accepted long ago, index
// signatures beyond the threshold, and earlier roots. A machine that receives a copy may trust another key or
// an older root. This function therefore reads all of them, so that the reader of `files` sees them. It skips
// missing files and checks nothing.
void read_all_signatures(RepositoryFiles& files);

}  // namespace enginehost::manifest
