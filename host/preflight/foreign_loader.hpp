// Common interface to the rules of the Windows and macOS loaders, for check_foreign().
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/preflight/foreign.hpp"

namespace enginehost::preflight {

class ForeignLoader {
 public:
  struct Outcome {
    linker::Closure closure;
    std::vector<Diagnosis> diagnoses;  // why it fails, worst first
    std::vector<Diagnosis> doubts;     // libraries that come with neither the build nor the system
  };
  virtual ~ForeignLoader() = default;
  // Names that the file requests, without weak and delayed ones; empty when it cannot be read.
  virtual std::vector<std::string> needs(const std::string& file) = 0;
  // The key under which a file satisfies a need; accepts a path or a requested name.
  virtual std::string key(const std::string& name) const = 0;
  virtual bool looks_like_library(const std::string& name) const = 0;
  virtual std::vector<std::string> names_in(const std::filesystem::path& folder) const = 0;
  virtual Outcome close(const std::string& file, const std::vector<std::string>& preloaded) = 0;
  // Runs the symbol pass over the closure of the last close().
  virtual std::vector<Diagnosis> missing_symbols() = 0;
};

// For a file of that kind that was read already; `spec` must outlive the result.
std::unique_ptr<ForeignLoader> windows_loader(const ForeignSpec& spec, const binary::BinaryInfo& file);
std::unique_ptr<ForeignLoader> macos_loader(const ForeignSpec& spec, const binary::BinaryInfo& file);

}  // namespace enginehost::preflight
