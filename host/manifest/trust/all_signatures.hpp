// What a copy of a signed repository needs beside what its maker had to read.
#pragma once
#include "host/manifest/trust/signed_repository.hpp"

namespace enginehost::manifest {

// Whoever knows a repository reads neither the signatures of a root that was accepted long ago, nor more of
// an index than its threshold asks for, nor the roots before. A machine that gets a copy may know another
// key, or an older root: this reads all of them, so that the files' reader sees them. What is missing is
// passed over; nothing is checked.
void read_all_signatures(RepositoryFiles& files);

}  // namespace enginehost::manifest
