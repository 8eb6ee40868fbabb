// The two loaders that are not this system's, behind one face: what check_foreign needs of either.
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
    std::vector<Diagnosis> doubts;     // what comes with neither the build nor the system
  };
  virtual ~ForeignLoader() = default;
  // The names this file asks for, weak and delayed ones left out; empty when it cannot be read.
  virtual std::vector<std::string> needs(const std::string& file) = 0;
  // Under which name a file serves such a need: of a path or of a need.
  virtual std::string key(const std::string& name) const = 0;
  virtual bool looks_like_library(const std::string& name) const = 0;
  virtual std::vector<std::string> names_in(const std::filesystem::path& folder) const = 0;
  virtual Outcome close(const std::string& file, const std::vector<std::string>& preloaded) = 0;
  // The symbol pass over the closure that was made last.
  virtual std::vector<Diagnosis> missing_symbols() = 0;
};

// For a file of that kind, read already; `spec` must outlive it.
std::unique_ptr<ForeignLoader> windows_loader(const ForeignSpec& spec, const binary::BinaryInfo& file);
std::unique_ptr<ForeignLoader> macos_loader(const ForeignSpec& spec, const binary::BinaryInfo& file);

}  // namespace enginehost::preflight
