// Static thread-local storage: what the libraries of a closure need and what a process has.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Returns the bytes that glibc reserves at the start of a process for libraries opened later (elf/dl-tls.c,
// _dl_tls_static_surplus_init): 1664, or the result of the tunables glibc.rtld.nns and
// glibc.rtld.optional_static_tls.
std::uint64_t static_tls_reserve(const Machine& machine, std::string_view tunables);

// Adds to the closure: refused (EH-L19) if its needs exceed the reserve in any process, a doubt if they may.
// musl has no reserve: refused (EH-L29).
void judge_static_tls(const Machine& machine, const Request& request, Reader& reader, Closure& closure);

// Returns GLIBC_TUNABLES at the start of this process, "" = not set. Read once. Thread safety: any thread.
const std::string& loader_tunables_at_start();

}  // namespace enginehost::linker
