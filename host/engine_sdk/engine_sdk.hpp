// Writes an engine's headers, libraries, licenses and a CMake package config into a folder. The files come
// from the archives that EngineHost opens the engine from.
//
// Thread safety: one thread at a time, as for OpenContext.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "host/acquire/acquire.hpp"
#include "host/context/open_context.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::engine_sdk {

struct SdkOptions {
  std::function<Result<void>(const acquire::Question&)> consent;
  transfer::ProgressCallback progress;
};

struct WrittenSdk {
  std::string engine, version, build;
  std::filesystem::path folder;
  std::string package;  // for find_package()
  std::string headers;  // their origin, for a sentence
  std::size_t files = 0;
  std::uint64_t size = 0, downloaded = 0;
  bool was_there = false;  // the folder held exactly this before, and every file of it was checked
  std::vector<Diagnosis> warnings;
};

// Writes the newest build of the request's engine and version that has an SDK. The folder is absent, empty or
// whole at any time: everything is written beside it and renamed. A folder that holds the same SDK stays as
// it is, after each file was compared with its digest.
//
// Errors: EH-R22 ("engine") if EngineHost makes no SDK of the engine, or ("system") for this system; EH-R23
// ("engine", "version") if no build of that version has one; EH-R24 ("folder") if the folder holds something
// else; those of acquire::acquire(); EH-F15, EH-F16 of the folder.
Result<WrittenSdk> write_sdk(open::OpenContext& context, resolve::Request request,
                             const std::filesystem::path& folder, const SdkOptions& options);

}  // namespace enginehost::engine_sdk
