#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/dyld.hpp"
#include "host/preflight/foreign_loader.hpp"

namespace enginehost::preflight {
namespace {

// Returns the processor for which a Mac would run it: the platform's, else one of the file's own, Apple
// silicon first.
std::string architecture_for(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  if (spec.mac != nullptr) return spec.mac->architecture;
  if (spec.platform != nullptr && spec.platform->arch.is_known()) {
    const std::string& arch = spec.platform->arch.value();
    return arch == "arm64" ? "aarch64" : arch;
  }
  const std::vector<std::string> machines = split(file.machine, '+');
  for (const std::string& machine : machines)
    if (machine == "aarch64") return machine;
  return machines.front();
}

class MacosLoader final : public ForeignLoader {
 public:
  MacosLoader(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : reader_({}, architecture_for(spec, file), spec.described) {
    if (spec.mac != nullptr) machine_ = *spec.mac;
    machine_.architecture = architecture_for(spec, file);
    if (spec.mac == nullptr && spec.platform != nullptr && spec.platform->distribution.is_known())
      machine_.os_version = spec.platform->distribution.value().version;
  }

  std::vector<std::string> needs(const std::string& file) override {
    const auto& info = reader_.read(file);
    return info ? info->needed : std::vector<std::string>{};
  }
  // The last part of a path is the file's name; the same holds for an install name.
  std::string key(const std::string& name) const override { return name.substr(name.rfind('/') + 1); }
  bool looks_like_library(const std::string& name) const override {
    return name.ends_with(".dylib") || name.ends_with(".so");
  }
  std::vector<std::string> names_in(const std::filesystem::path& folder) const override {
    return reader_.names_in(path_text(folder));
  }

  Outcome close(const std::string& file, const std::vector<std::string>& preloaded) override {
    linker::AppleRequest request;
    request.file = file;
    request.preloaded = preloaded;
    closure_ = linker::close_macos(machine_, request, reader_);
    Outcome outcome{closure_, linker::diagnose_macos(closure_), {}};
    for (const linker::Object& object : closure_.objects)
      if (!object.path.empty() && !reader_.is_described())
        if (auto marked = linker::quarantine_problem(path_of(object.path)))
          outcome.doubts.push_back(std::move(*marked));
    return outcome;
  }
  std::vector<Diagnosis> missing_symbols() override {
    return linker::missing_macos_symbols(machine_, closure_);
  }

 private:
  linker::AppleMachine machine_;
  linker::Reader reader_;
  linker::Closure closure_;
};

}  // namespace

std::unique_ptr<ForeignLoader> macos_loader(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  return std::make_unique<MacosLoader>(spec, file);
}

}  // namespace enginehost::preflight
