#include <algorithm>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/windows.hpp"
#include "host/preflight/foreign_loader.hpp"

namespace enginehost::preflight {
namespace {

class WindowsLoader final : public ForeignLoader {
 public:
  WindowsLoader(const ForeignSpec& spec, const binary::BinaryInfo& file)
      : spec_(spec), reader_({}, {}, spec.described) {
    if (spec.machine != nullptr) {
      machine_ = *spec.machine;
      return;
    }
    machine_.assume_system = true;
    machine_.architecture = file.machine;
    // An Arm64X file suits both kinds of process; it is checked as AArch64.
    if (file.machine == "arm64x") machine_.architecture = "aarch64";
    if (spec.platform != nullptr && spec.platform->arch.is_known())
      machine_.architecture = spec.platform->arch.value();
  }

  std::vector<std::string> needs(const std::string& file) override {
    const auto& info = reader_.read(file);
    return info ? info->needed : std::vector<std::string>{};
  }
  std::string key(const std::string& name) const override {
    const std::string base = to_lower(name.substr(name.find_last_of("\\/") + 1));
    return base.find('.') == std::string::npos ? base + ".dll" : base;
  }
  bool looks_like_library(const std::string& name) const override { return to_lower(name).ends_with(".dll"); }
  std::vector<std::string> names_in(const std::filesystem::path& folder) const override {
    return reader_.names_in(path_text(folder));
  }

  Outcome close(const std::string& file, const std::vector<std::string>& preloaded) override {
    linker::WindowsRequest request;
    request.file = file;
    request.preloaded = preloaded;
    closure_ = linker::close_windows(machine_, request, reader_);
    Outcome outcome{closure_.closure, linker::diagnose_windows(closure_), {}};
    judge("Visual C++ Redistributable", closure_.redistributable,
          spec_.platform ? state_of(spec_.platform->vcruntime) : State::unknown, outcome);
    std::vector<std::string> nvidia, others;
    for (const std::string& name : closure_.driver)
      (to_lower(name).starts_with("nv") ? nvidia : others).push_back(name);
    judge("graphics driver", nvidia, spec_.platform ? state_of(spec_.platform->cuda.driver) : State::unknown,
          outcome);
    judge("graphics driver", others, State::unknown, outcome);
    return outcome;
  }
  std::vector<Diagnosis> missing_symbols() override {
    return linker::missing_functions(machine_, closure_, reader_);
  }

 private:
  enum class State { there, absent, unknown };
  static State state_of(const platform::Fact<std::string>& fact) {
    return fact.is_known() ? State::there : fact.is_absent() ? State::absent : State::unknown;
  }

  // Judges libraries that belong neither to the build nor to Windows.
  void judge(const char* provider, const std::vector<std::string>& names, State state,
             Outcome& outcome) const {
    if (names.empty() || state == State::there) return;
    Diagnosis diagnosis = diagnose("EH-W01");
    diagnosis.with("file", outcome.closure.file);
    for (const std::string& name : names) diagnosis.with("library", name, provider);
    for (const linker::Object& object : outcome.closure.objects)
      if (std::find(names.begin(), names.end(), object.name) != names.end()) {
        diagnosis.with("needed_by", object.needed_by);
        break;
      }
    (state == State::absent ? outcome.diagnoses : outcome.doubts).push_back(std::move(diagnosis));
  }

  const ForeignSpec& spec_;
  linker::WindowsMachine machine_;
  linker::Reader reader_;
  linker::WindowsClosure closure_;
};

}  // namespace

std::unique_ptr<ForeignLoader> windows_loader(const ForeignSpec& spec, const binary::BinaryInfo& file) {
  return std::make_unique<WindowsLoader>(spec, file);
}

}  // namespace enginehost::preflight
