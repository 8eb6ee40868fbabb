// Static thread-local storage: what the libraries of a closure want of it, and what a process has.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

// The bytes that glibc quarantines at the start of a process for libraries opened later (elf/dl-tls.c,
// _dl_tls_static_surplus_init): 1664, or what the tunables glibc.rtld.nns and
// glibc.rtld.optional_static_tls make of it.
std::uint64_t static_tls_reserve(const Machine& machine, std::string_view tunables);

// Adds to the closure: refused (EH-L19) when what it wants cannot fit whatever the process holds, a doubt
// when it may not. musl has no reserve at all: refused (EH-L29).
void judge_static_tls(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

// GLIBC_TUNABLES as this process was started with it, "" = not set. Read once; any thread.
const std::string& loader_tunables_at_start();

}  // namespace enginehost::linker
