#include "tools/follow/derive.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "tools/follow/layout.hpp"
#include "tools/follow/needs.hpp"
#include "tools/follow/payload.hpp"
#include "tools/follow/requires.hpp"
#include "tools/publish/names.hpp"
#include "tools/publish/requirements.hpp"

namespace enginehost::follow {
namespace {

// Member of a row's `requires.cuda`: the libraries of the row's own wheel whose GPU code counts.
constexpr const char* code_of_member = "code_of";

acquire::AcquireOptions options_of(const transfer::TransferOptions& transfer) {
  acquire::AcquireOptions options;
  options.transfer = transfer;
  return options;
}

bool uses_cuda(const Layout& layout) {
  const auto names_it = [](const std::string& text) { return text.find("{cuda") != std::string::npos; };
  for (const std::string& text : {layout.project, layout.wheel, layout.component, layout.license_file})
    if (names_it(text)) return true;
  return std::ranges::any_of(layout.select, names_it);
}

bool is_cuda_flavor(const std::string& flavor) { return flavor.starts_with("cu") && flavor.size() > 2; }

Json without_code_of(const Json& requires_given) {
  Json result = Json::object();
  for (const auto& [name, value] : requires_given.as_object()) {
    if (name != "cuda") {
      result.set(name, value);
      continue;
    }
    Json cuda = Json::object();
    for (const auto& [member, one] : value.as_object())
      if (member != code_of_member) cuda.set(member, one);
    if (!cuda.as_object().empty()) result.set(name, std::move(cuda));
  }
  return result;
}

class RowMaker {
 public:
  RowMaker(const Derivation& derivation, const Row& row, const std::string& version, WheelReader& reader)
      : derivation_(derivation), row_(row), version_(version), reader_(reader), memory_(derivation.plan) {}

  Result<DerivedRow> make();
  Result<std::string> toolkit() {
    TRY(read_main());
    TRY_ASSIGN(const Needs needs, needs_of(*main_, {row_.os, row_.arch, {}}, {}, choice_, reader_));
    return needs.cuda;
  }

 private:
  const Plan& plan() const { return derivation_.plan; }
  Result<Layout> layout_of(const std::string& name) const;
  Diagnosis refusal(const std::string& problem, const std::string& remedy) const {
    return not_as_planned(project_, version_, main_ ? main_->published.file : "", problem, remedy);
  }
  Result<void> check_canceled() const {
    if (derivation_.cancel && derivation_.cancel->canceled()) return fail(diagnose(Code::canceled));
    return {};
  }
  Result<void> read_main();
  Result<void> find_cuda();
  Result<void> check_needs(const std::string& flavor) const;
  Result<void> add_part(const Part& part);
  Result<void> add_own_component(const std::string& id);
  void keep_what_counts(publish::ArtifactFacts& facts, const Layout& layout, bool is_main) const;
  // `raw`: with its variables.
  Result<void> add_wheel(const Wheel& wheel, const Layout& raw, const std::string& version);
  std::vector<manifest::Artifact> others_of(const Wheel& wheel, const Layout& taken,
                                            const std::string& version) const;
  void note(const std::string& what, const std::string& source) { made_.facts.push_back({what, source}); }
  void note_requirements(const Json& requires_read);
  Result<Json> build();

  const Derivation& derivation_;
  const Row& row_;
  const std::string& version_;
  WheelReader& reader_;
  NameMemory memory_;
  Choice choice_{derivation_.index, memory_, {}};
  std::string project_;
  std::shared_ptr<const Wheel> main_;
  Variables variables_;
  Needs needs_;
  std::vector<std::string> components_;
  std::vector<publish::ArtifactFacts> parts_;
  DerivedRow made_;
};

Result<Layout> RowMaker::layout_of(const std::string& name) const {
  if (const Layout* layout = find_layout(plan(), name)) return *layout;
  return fail(refusal("the plan has no layout \"" + name + "\"", "correct the plan"));
}

Result<void> RowMaker::read_main() {
  TRY_ASSIGN(const Layout layout, layout_of(row_.layout));
  project_ = publish::normal_project(layout.project);
  TRY_ASSIGN(const PublishedFile file,
             choose_release(choice_, layout.project, {"==" + version_}, layout.wheel));
  TRY_ASSIGN(main_, reader_.read(file));
  return {};
}

Result<void> RowMaker::find_cuda() {
  std::vector<std::string> others;
  bool asks = row_.cuda == "metadata";
  for (const Part& part : row_.parts) {
    if (part.version != "metadata") continue;
    TRY_ASSIGN(const Layout layout, layout_of(part.layout));
    asks = true;
    if (!uses_cuda(layout)) others.push_back(publish::normal_project(layout.project));
  }
  const std::string flavor = row_.build["flavor"].as_string();
  if (asks || is_cuda_flavor(flavor)) {
    TRY_ASSIGN(needs_, needs_of(*main_, {row_.os, row_.arch, {}}, others, choice_, reader_));
  }
  variables_ = {version_, row_.cuda == "metadata" ? needs_.cuda : row_.cuda};
  choice_.cuda = variables_.cuda;
  if (row_.cuda == "metadata" && needs_.cuda.empty())
    return fail(refusal("its METADATA does not say for which CUDA toolkit it is built",
                        "name the version in the plan, as \"cuda\" of the row"));
  if (!variables_.cuda.empty())
    note("CUDA toolkit " + variables_.cuda,
         row_.cuda == "metadata" ? "METADATA of " + main_->published.file : "the plan");
  return {};
}

// A component that METADATA requires and that no part is, would be missing on users' machines.
Result<void> RowMaker::check_needs(const std::string& flavor) const {
  if (!is_cuda_flavor(flavor)) return {};
  TRY_ASSIGN(const Layout main, layout_of(row_.layout));
  std::vector<std::string> named;
  for (const std::string& pattern : main.ignored) named.push_back(filled(pattern, variables_));
  for (const Part& part : row_.parts) {
    if (part.version == "none") continue;
    TRY_ASSIGN(const Layout layout, layout_of(part.layout));
    named.push_back(publish::normal_project(filled(layout.project, variables_)));
  }
  for (const Need& need : needs_.projects)
    if (std::ranges::none_of(named,
                             [&](const auto& pattern) { return matches_pattern(need.project, pattern); }))
      return fail(refusal("it requires " + need.project + " " + join(need.ranges, ",") + " (METADATA of " +
                              need.sources.front() + "), and no part of the row is that",
                          "add a part for it, or name it in \"ignored\" of the row's layout"));
  return {};
}

Result<void> RowMaker::add_own_component(const std::string& id) {
  const Json* component = plan().components.find(id);
  if (component == nullptr)
    return fail(refusal("the plan has no component \"" + id + "\"", "correct the plan"));
  components_.push_back(id);
  // Its libraries are compiled where the manifest is made; their names are known here.
  publish::ArtifactFacts names;
  for (const Json& name : (*component)["stands_in_for"].as_array()) names.files.push_back(name.as_string());
  parts_.push_back(std::move(names));
  note("component " + id, "the plan");
  return {};
}

// Selections of other rows of the plan from the same archive. With one download the facts of all of them are
// kept.
std::vector<manifest::Artifact> RowMaker::others_of(const Wheel& wheel, const Layout& taken,
                                                    const std::string& version) const {
  std::vector<manifest::Artifact> others;
  for (const auto& [name, raw] : plan().layouts) {
    if (uses_cuda(raw) && variables_.cuda.empty()) continue;
    const Layout layout = filled(raw, {version, variables_.cuda});
    const bool is_same_wheel = publish::normal_project(layout.project) == wheel.metadata.project &&
                               matches_pattern(wheel.published.file, layout.wheel);
    if (!is_same_wheel || layout.select == taken.select) continue;
    if (auto artifact = choose_files(wheel, layout)) others.push_back(std::move(*artifact));
  }
  return others;
}

Result<void> RowMaker::add_wheel(const Wheel& wheel, const Layout& raw, const std::string& version) {
  TRY(check_canceled());
  const Layout layout = filled(raw, {version, variables_.cuda});
  TRY_ASSIGN(const manifest::Artifact artifact, choose_files(wheel, layout));
  TRY(check_license(reader_, wheel, layout, plan().licenses));
  const std::filesystem::path& scratch = derivation_.scratch;
  acquire::AcquireOptions options = reader_.options();
  options.consent = derivation_.consent;
  TRY_ASSIGN(Payload payload, payload_of(wheel, artifact, others_of(wheel, layout, version),
                                         {plan().facts, scratch, derivation_.store}, options,
                                         derivation_.progress, derivation_.cancel));
  const bool whole = !payload.facts.by_ranges;
  const std::string& file = wheel.published.file;
  note(layout.component + ": " + pluralize(artifact.files.size(), "file", "files") + " and their digests",
       "RECORD of " + file + ", by ranges");
  note("SHA-256 of " + file, whole ? "the package index, compared with the whole archive"
                                   : "the package index states it; only the selected files were read");
  note("libraries of " + layout.component,
       file + (whole ? ", read whole" : ", by ranges") + (payload.remembered ? ", in an earlier run" : ""));
  reader_.add_payload(wheel, payload.fetched, payload.whole);
  made_.components.set(layout.component, component_of(artifact, layout, version));
  components_.push_back(layout.component);
  payload.facts.file = file;
  keep_what_counts(payload.facts, layout, &wheel == main_.get());
  parts_.push_back(std::move(payload.facts));
  return {};
}

// A build can do without optional libraries, so users may lack what those need. NVIDIA's components choose
// their kernels by the device; which devices they serve is a fact about the toolkit.
void RowMaker::keep_what_counts(publish::ArtifactFacts& facts, const Layout& layout, bool is_main) const {
  std::erase_if(facts.libraries, [&](const publish::LibraryFacts& library) {
    return std::ranges::any_of(layout.optional,
                               [&](const auto& pattern) { return matches_pattern(library.path, pattern); });
  });
  const Json code_of = filled_value(row_.build["requires"]["cuda"][code_of_member], variables_);
  for (publish::LibraryFacts& library : facts.libraries) {
    const std::string name = library.path.substr(library.path.rfind('/') + 1);
    const bool named =
        code_of.as_array().empty() || std::ranges::any_of(code_of.as_array(), [&](const Json& pattern) {
          return matches_pattern(name, pattern.as_string());
        });
    if (is_main && named) continue;
    library.sass.clear();
    library.ptx.clear();
  }
}

Result<void> RowMaker::add_part(const Part& part) {
  if (part.version == "none") return add_own_component(filled(part.layout, variables_));
  TRY_ASSIGN(const Layout layout, layout_of(part.layout));
  const std::string project = filled(layout.project, variables_);
  std::vector<std::string> ranges = {part.version};
  if (part.version == "metadata") {
    const Need* need = needs_.find(publish::normal_project(project));
    if (need == nullptr)
      return fail(refusal("its METADATA does not require " + project,
                          "remove the part from the row, or name a range of its versions"));
    ranges = need->ranges;
    note(project + " " + join(ranges, ","), "METADATA of " + need->sources.front());
  }
  TRY_ASSIGN(const PublishedFile file, choose_release(choice_, project, ranges, layout.wheel));
  TRY_ASSIGN(const auto wheel, reader_.read(file));
  return add_wheel(*wheel, layout, file.version);
}

void RowMaker::note_requirements(const Json& read) {
  std::vector<std::string> files;
  for (const auto& part : parts_)
    if (!part.file.empty()) files.push_back(part.file);
  const std::string source = "libraries of " + (files.empty() ? main_->published.file : join(files, ", "));
  for (const auto& [name, value] : read.as_object())
    note(name + " " + (value.is_string() ? value.as_string() : value.dump()), source);
}

Result<Json> RowMaker::build() {
  Json given = filled_value(row_.build, variables_);
  const publish::System system = publish::system_of(parts_);
  const std::vector<std::string> machines = split(system.arch, '+');
  if (system.os != row_.os || std::ranges::find(machines, row_.arch) == machines.end())
    return fail(refusal("its libraries are for " +
                            (system.os.empty() ? "no system, or several" : system.os + " " + system.arch) +
                            ", and the row is for " + row_.os + " " + row_.arch,
                        "correct \"wheel\" and \"select\" of the layout"));
  const std::string& flavor = given["flavor"].as_string();
  Json read = publish::requirements_of(parts_, flavor);
  if (const Json* cuda = read.find("cuda"); cuda != nullptr && !variables_.cuda.empty()) {
    Json toolkit = *cuda;
    toolkit.set("toolkit", variables_.cuda);
    read.set("cuda", std::move(toolkit));
  }
  note_requirements(read);
  const Json written = without_code_of(given["requires"]);
  // A build has its plugin's component anyway. One that is named twice would count twice in a download.
  std::vector<std::string> components = components_;
  std::erase(components, given["plugin"]["component"].as_string());
  Json made = Json::object();
  made.set("id", given["id"])
      .set("version", version_)
      .set("flavor", given["flavor"])
      .set("os", row_.os)
      .set("arch", row_.arch)
      .set("requires", joined_requirements(read, written))
      .set("plugin", given["plugin"])
      .set("components", Json::strings(components));
  for (const auto& [name, value] : given.as_object())
    if (made.find(name) == nullptr) made.set(name, value);
  return made;
}

Result<DerivedRow> RowMaker::make() {
  const std::uint64_t before = reader_.fetched();
  TRY(read_main());
  TRY(find_cuda());
  TRY(check_needs(filled(row_.build["flavor"].as_string(), variables_)));
  TRY_ASSIGN(const Layout layout, layout_of(row_.layout));
  TRY(add_wheel(*main_, layout, version_));
  for (const Part& part : row_.parts) TRY(add_part(part));
  TRY_ASSIGN(made_.build, build());
  made_.fetched = reader_.fetched() - before;
  return std::move(made_);
}

}  // namespace

std::shared_ptr<WheelReader> wheel_reader(const std::filesystem::path& scratch,
                                          const transfer::TransferOptions& options,
                                          const std::optional<CancelToken>& cancel) {
  return std::make_shared<WheelReader>(scratch / "wheels", options_of(options), cancel);
}

namespace {

std::shared_ptr<WheelReader> reader_of(const Derivation& derivation) {
  if (derivation.wheels) return derivation.wheels;
  return wheel_reader(derivation.scratch, derivation.options, derivation.cancel);
}

}  // namespace

Result<std::string> read_toolkit(const Derivation& derivation, const Row& row, const std::string& version) {
  const auto reader = reader_of(derivation);
  return RowMaker(derivation, row, version, *reader).toolkit();
}

Result<DerivedRow> derive_row(const Derivation& derivation, const Track&, const Row& row,
                              const std::string& version) {
  const auto reader = reader_of(derivation);
  return RowMaker(derivation, row, version, *reader).make();
}

}  // namespace enginehost::follow
