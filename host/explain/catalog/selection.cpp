// EH-S: choosing a build, and engines that other tools installed.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace selection_table {

constexpr std::string_view see_all =
    "engine-info {engine} --plan --explain shows every build and why it is not used";
constexpr std::string_view decided = "the requirements of the build against this machine";

constexpr Entry entries[] = {
    {.name = {"EH-S01", "no build fits"},
     .meaning = "Builds of the engine are known, but none fits this machine and request.",
     .before = decided,
     .causes = {"no build of {engine} for this system with flavor {of_flavor} has version {unknown_version}; "
                "its versions that fit here are {version_here...}",
                "no build of {engine} for this system with flavor {of_flavor} has version {unknown_version}; "
                "its nearest is {nearest_version}",
                "no build of {engine} for this system has version {unknown_version}; versions that fit here "
                "are {version_here...}",
                "no build of {engine} for this system has version {unknown_version}; the nearest is "
                "{nearest_version}",
                "{count=1}the only build of {engine}, {build}, does not fit {request}: {reason}",
                "{count=1}the only build of {engine} does not fit this machine and request",
                "none of {count} builds of {engine} fits {request}; the nearest, {build}: {reason}",
                "none of {count} builds of {engine} fits; the nearest, {build}: {reason}",
                "none of {count} builds of {engine} fits this machine and request",
                "no build of {engine} fits this machine and request",
                "no build fits this machine and request"},
     .remedies =
         {"{first_code=EH-S15}install the Visual C++ Redistributable for Visual Studio 2015-2022: "
          "https://learn.microsoft.com/cpp/windows/latest-supported-vc-redist",
          "request version {nearest_version}, or leave the version out",
          "{index_version} is on the package index, and no repository lists it: {from_index}",
          "{pci_device=none}{!of_other_flavors}use a machine with an NVIDIA GPU; engine-info shows which "
          "engines open here",
          see_all, "{?of_other_versions}leave the version out to allow other versions",
          "{?of_other_flavors}leave the flavor out ({demanded_by}) to allow other flavors",
          "{?of_other_flavors}{!demanded_by}leave the flavor out (--require) to allow other flavors",
          "to try a build that has to be requested: --flavor {to_be_named|word}",
          "{?for_other_devices}leave the device out ({device_set_by}) to allow builds for other devices",
          "{?for_other_devices}{!device_set_by}leave the device out (--device) to allow builds for other "
          "devices"}},
    {.name = {"EH-S02", "unknown engine"},
     .meaning = "No repository offers an engine of that name.",
     .before = "the names in all repositories",
     .causes = {"no repository offers {engine}; did you mean {nearest}?",
                "no repository offers {engine}; known engines are {known...}",
                "no repository offers {engine}: no engine is listed in {empty_repository...}",
                "no repository offers {engine}: EngineHost's own, share/enginehost/repository, is not where "
                "EngineHost is installed{?searched}",
                "{repositories=none}no repository offers {engine}, because none is configured",
                "no repository offers {engine}", "no repository offers that engine"},
     .remedies = {"{command_instead}", "{?known}engine-info lists the known engines",
                  "{?searched}install EngineHost with its folder share/enginehost beside the folder of its "
                  "library and programs",
                  "add a repository: --repository, ENGINEHOST_REPOSITORIES or the configuration"}},
    {.name = {"EH-S03", "build for another system"},
     .meaning = "The build is for another operating system or processor.",
     .before = decided,
     .causes = {"{build} is for {required}; this machine is {found}", "the build is for another system"},
     .remedies = {see_all, "use the build for this system"},
     .category = Category::host},
    {.name = {"EH-S04", "another flavor is required"},
     .meaning = "The request requires one flavor, and this build has another.",
     .before = "--require",
     .causes = {"{build} has flavor {found}; {demanded_by} requires {required}",
                "{build} has flavor {found}; the request requires {required}",
                "the build has another flavor"},
     .remedies = {"leave the flavor out ({demanded_by}) to allow other flavors",
                  "{!demanded_by}leave the flavor out (--require) to allow other flavors"}},
    {.name = {"EH-S05", "another version is requested"},
     .meaning = "The request does not accept the build's version.",
     .before = "the request's version",
     .causes = {"{build} has version {found}; the request is for {required}",
                "the build has another version"},
     .remedies = {"request another version: engine-info ENGINE --plan --explain lists them"}},
    {.name = {"EH-S06", "operating system too old"},
     .meaning = "The build needs a newer operating system.",
     .before = decided,
     .causes = {"the build needs {required}; this system is {found}",
                "the operating system is older than needed"},
     .remedies =
         {"use an older build (engine-info ENGINE --plan --explain lists them), or update the system"},
     .category = Category::host},
    {.name = {"EH-S07", "not enough memory"},
     .meaning = "The machine, or the container's limit, has less memory than the build needs.",
     .before = decided,
     .causes = {"the build needs {required} of memory; {found} are available",
                "there is less memory than the build needs"},
     .remedies = {"raise the container's limit, or use a smaller build"},
     .category = Category::host},
    {.name = {"EH-S08", "not enough device memory"},
     .meaning = "No GPU has as much memory as the build needs.",
     .before = decided,
     .causes = {"the build needs {required} of device memory; the largest GPU has {found}",
                "no GPU has the memory that the build needs"},
     .remedies = {"use a cpu build: --flavor cpu"},
     .category = Category::host},
    {.name = {"EH-S09", "device not offered"},
     .meaning =
         "The request is for a device that this build does not use, or that this machine does not have.",
     .before = "the build's capabilities and the machine's devices",
     .causes = {"{device} was requested; the engine offers {offered...}, and CUDA_VISIBLE_DEVICES is "
                "{cuda_visible_devices}",
                "{device} was requested; the engine offers {offered...}; {other_build}",
                "{device} was requested; the engine offers {offered...}",
                "{device} was requested; the build offers {found}", "{device} was requested: {reason}",
                "the requested device is not offered"},
     .remedies = {see_all, "leave the device out ({device_set_by}), or allow others: {device},cpu",
                  "{!device_set_by}leave the device out (--device), or allow others: {device},cpu"}},
    {.name = {"EH-S10", "build without digest"},
     .meaning =
         "The manifest states no sha256 for a part of the build. The build is listed but never installed.",
     .before = "the manifest",
     .causes = {"{component} of {build} has no sha256 in its manifest", "a part of the build has no sha256"},
     .remedies = {"ask the publisher of the manifest to add sha256 to its artifacts"}},
    {.name = {"EH-S11", "build withdrawn"},
     .meaning = "The publisher withdrew the build.",
     .before = "the member \"yanked\"",
     .causes = {"{build} was withdrawn: {reason}", "the build was withdrawn by its publisher"},
     .remedies = {"use another version: engine-info ENGINE --plan --explain lists them"}},
    {.name = {"EH-S12", "no plugin for this build"},
     .meaning =
         "The build is known, but its repository does not have the plugin that opens it. A build tree has "
         "the plugins that were compiled there.",
     .before = "the repository",
     .causes = {"{build} cannot be opened: {reason}", "the repository does not have the build's plugin"},
     .remedies = {see_all, "use another version or flavor, or a repository that has the plugin"}},
    {.name = {"EH-S13", "not installed, and offline"},
     .meaning = "The build would have to be downloaded, and the request is offline.",
     .before = "the cache",
     .causes = {"{build} is not installed, and the request is offline",
                "the build is not installed, and the request is offline"},
     .remedies = {"{?recorded}where there is a network: {command} --platform {recorded|word}",
                  "{!recorded}where there is a network: {command}; on another machine also --platform "
                  "machine.json, which engine-info --platform-json writes here",
                  "run once without --offline, or copy a filled cache here (engine-cache path shows where)"},
     .exit_status = S::not_fetched},
    {.name = {"EH-S14", "quarantined"},
     .meaning = "The build failed on this machine before, or was disabled by hand. It is not tried for now.",
     .before = "the history of this machine",
     .causes =
         {"{build} fits best, but {set_aside_by} does not open it: it failed there before, or was disabled",
          "{disabled=by hand}{build} was disabled here by hand",
          "{disabled=by hand}the build was disabled here by hand",
          "{build} failed here before: {first_code} {reason}", "{build} failed here before: {reason}",
          "{build} failed here before", "the build failed here before"},
     .remedies = {"{disabled=by hand}engine-cache quarantine enable {build} allows it again",
                  "{?set_aside_by}there engine-cache quarantine show {build} shows why; engine-cache "
                  "quarantine clear {build} or enable {build} allows it again; then make a new request",
                  "{?unfit}engine-cache quarantine show {build} shows what it lacks; it is tried again when "
                  "that changes",
                  "{?unfit}{?retry_after}engine-cache quarantine clear {build} tries it at once",
                  "{!disabled}{!set_aside_by}{!unfit}engine-cache quarantine show {build} shows why; "
                  "engine-cache quarantine clear {build} allows it again"},
     .exit_status = S::not_loaded},
    {.name = {"EH-S15", "Visual C++ runtime too old or missing"},
     .meaning = "The build needs a newer Visual C++ runtime.",
     .before = decided,
     .causes = {"the build needs the Visual C++ runtime {required}; this machine has {found}",
                "the Visual C++ runtime is older than needed"},
     .remedies = {"install the Visual C++ Redistributable for Visual Studio 2015-2022: "
                  "https://learn.microsoft.com/cpp/windows/latest-supported-vc-redist"},
     .category = Category::host},
    {.name = {"EH-S16", "ROCm or its GPU does not fit"},
     .meaning = "The build needs another ROCm version, or has no code for this AMD GPU.",
     .before = decided,
     .causes = {"{invalid} is no version (MAJOR.MINOR.STEPPING, as 10.3.0), and ROCm does not start with it",
                "{hidden_by} hides every AMD GPU; the build needs {required}",
                "{override} makes {device} count as {found}; the build has code for {required}",
                "this machine has {not_offered}, but the kernel does not offer it to ROCm",
                "the build needs {required}; this machine has {found}", "ROCm or the AMD GPU does not fit"},
     .remedies =
         {"{?invalid}unset {variable}, or set it to a version that the build has code for",
          "{?hidden_by}unset {variable}, or name the numbers of the GPUs to use",
          "to use its code for {close_code}, set HSA_OVERRIDE_GFX_VERSION={close_version}; AMD does not "
          "support that for {device}",
          "{?override}unset {variable}",
          // ROCm/legacy-rocm-build#1384, #3897
          "{?not_offered}as root: modprobe amdgpu; dmesg | grep kfd shows why the GPU is not offered (ROCm's "
          "kernel driver does not support every AMD GPU)",
          "use another build: engine-info ENGINE --plan --explain lists them"},
     .category = Category::host},
    {.name = {"EH-S17", "no Metal device"},
     .meaning = "The build needs Apple's Metal.",
     .before = decided,
     .causes = {"the build needs Metal; this machine has {found}", "the build needs Metal"},
     .remedies = {"use a cpu build: --flavor cpu"},
     .category = Category::host},
    {.name = {"EH-S18", "engine does not offer this"},
     .meaning = "The engine is open but lacks a requested ability: a function table or a model format.",
     .before = "the plugin's capabilities and tables",
     .causes = {"{file} has the format {format}, but the engine runs {offered}",
                "the engine does not offer {table}", "the engine does not offer what was requested"},
     .remedies = {"use an engine with the capability format.{format}",
                  "use another engine or build; engine-info NAME lists the capabilities of an engine"}},
    {.name = {"EH-S19", "no repository lists the build"},
     .meaning = "An installed build that has to be fetched again is listed by no repository any more.",
     .before = "all repositories",
     .causes = {"no repository lists {build}, so it cannot be fetched again"},
     .remedies =
         {"name the repository that it came from (--repository), or remove it: engine-cache remove {build}"}},
    {.name = {"EH-S20", "nothing on record"},
     .meaning = "This machine has no record of a build with that name.",
     .before = "the records of this machine",
     .causes = {"{build} is not disabled on this machine: it is {state}",
                "this machine has no record of {build}"},
     .remedies = {"{state=quarantined}engine-cache quarantine clear {build} ends the quarantine now",
                  "engine-cache quarantine list shows the quarantined builds"},
     .exit_status = S::usage},
    {.name = {"EH-S21", "built for another kind of arm64 machine"},
     .meaning = "NVIDIA has two toolkits for arm64 Linux: for servers (sbsa-linux) and for Jetson modules "
                "(aarch64-linux). The build was made with the other one.",
     .before = decided,
     .causes = {"the build is for {required}; this machine is {found}",
                "the build is for another kind of arm64 machine"},
     .remedies = {"use a build for this kind of machine: engine-info ENGINE --plan --explain lists them",
                  "use a cpu build: --flavor cpu"},
     .category = Category::host},
    {.name = {"EH-S22", "forced build not used"},
     .meaning = "--force, ENGINEHOST_FORCE or the API named a build for this run, and another one is opened.",
     .before = "the forced build among the candidates",
     .causes = {"{build} was forced and cannot be used here: it {reason}",
                "{build} was forced, and no repository lists it; did you mean {nearest}?",
                "{build} was forced, and no repository lists it{?unknown}",
                "{build} was forced and cannot be used here"},
     .remedies = {"engine-info ENGINE --plan --explain shows every build and why it is not used",
                  "leave out --force and clear ENGINEHOST_FORCE to open the best build"}},
    {.name = {"EH-S23", "build not installed"},
     .meaning = "A command for installed builds named one that is not installed.",
     .before = "the records of the cache and of its layers",
     .causes = {"{build} is in the read-only layer {in_layer}; commands for the cache {folder} never change "
                "that, nor does gc",
                "{build} is not installed in {folder}; did you mean {nearest}?",
                "{build} is not installed in {folder}; installed are {installed...}",
                "{build} is not installed in {folder}, which has no builds", "{build} is not installed"},
     .remedies =
         {"{?in_layer}to remove, repair or pin it there, add --cache {in_layer|word} as a user who can write "
          "there",
          "{!in_layer}engine-cache list shows what is installed",
          "{!in_layer}engine-cache fetch, with the name of an engine, installs a build"},
     .exit_status = S::usage},
    {.name = {"EH-S24", "accelerator not used"},
     .meaning = "The machine has an accelerator, or the request prefers one (cuda,cpu), but a build for the "
                "processor is opened. The builds for the accelerator do not fit, may not fit, or are "
                "prereleases; or there are none for this system. A warning.",
     .before = decided,
     .causes =
         {"{device} is preferred, but {build} is for the processor; as for {nearest}, {reason}",
          "this machine has {accelerator}, but {build} is for the processor; as for {nearest}, {reason}",
          "this machine has {accelerator}, but {build} is for the processor: {reason}",
          "a build for the processor is opened on a machine with an accelerator"},
     .remedies = {"engine-info --code {first_code} explains the reason and what to do about it",
                  "to use it, name it: {named|word}",
                  "to try it: engine-info {engine|word} --flavor {to_be_named|word}",
                  "engine-info {engine} --plan --explain shows every build and why it is not used",
                  "to stop this warning, request the processor: --flavor cpu, or \"flavor\": \"cpu\" in the "
                  "configuration"}},
    {.name = {"EH-S25", "forced build does not fit this machine"},
     .meaning =
         "--force, ENGINEHOST_FORCE or the API named a build, and it is opened although the machine does "
         "not meet its requirements. A warning.",
     .before = decided,
     .causes = {"{build} is forced, although it {reason}", "a build is forced that does not fit"},
     .remedies = {"engine-info --code {first_code} explains the requirement",
                  "leave out --force and clear ENGINEHOST_FORCE to open the best build that fits"}},
    {.name = {"EH-S26", "build has to be requested"},
     .meaning = "The build has an execution provider of ONNX Runtime beside the processor (openvino, webgpu, "
                "ggml, dml, coreml). EngineHost opens it only if the request names its flavor or its device, "
                "because EngineHost's tests never ran it on an accelerator.",
     .before = "the flavor and the device of the request",
     .causes = {"{build} is opened only for {required}; the request names {found}",
                "the build is opened only if the request names its flavor"},
     .remedies = {"request its flavor: --flavor FLAVOR, or \"flavor\" in the configuration or the API"}},
    {.name = {"EH-S27", "no code for a device that the request names"},
     .meaning = "The request names several GPUs. The build has code for the first, which the engine uses by "
                "default, but not for all. No build that fits has code for more of them.",
     .before = "compute capability of the requested devices against the manifest",
     .causes = {"{build} has no code for {device...}, which the request names ({request})",
                "the build has no code for a device that the request names"},
     .remedies =
         {"use that device with another build: engine-info ENGINE --plan --explain lists the code of each",
          "leave the device out of the request"}},
    {.name = {"EH-S28", "flavor that no build has"},
     .meaning =
         "No build of the engine has the requested flavor. Often a version, a device or a version of CUDA "
         "was named as the flavor. A warning if the flavor was only preferred.",
     .before = "the flavors of all builds of the engine",
     .causes = {"{flavor} is a version of CUDA; its flavor of {engine} is {meant_flavor}",
                "{flavor} is a version, and no flavor of {engine}: {meant_version}",
                "{flavor} is a device, and no flavor of {engine}{?meant_device}",
                "no build of {engine} has the flavor {flavor}; did you mean {nearest}?",
                "no build of {engine} has the flavor {flavor}; flavors for this system are {known...}",
                "no build of {engine} has the flavor {flavor}", "no build has the requested flavor"},
     .remedies = {"request the flavor: --flavor {meant_flavor|word}",
                  "request the version: engine-info {meant_version|word}",
                  "request the device: --device {meant_device|word}",
                  "leave the flavor out ({demanded_by}) to allow other flavors",
                  "{!demanded_by}leave the flavor out to allow other flavors", see_all}},
    {.name = {"EH-S29", "device that is a flavor"},
     .meaning = "The request names a flavor of the engine as the device.",
     .before = "the flavors and devices of all builds of the engine",
     .causes = {"{device} is a flavor of {engine}, and no device", "the requested device is a flavor"},
     .remedies = {"request the flavor: --flavor {meant_flavor|word}",
                  "leave the device out ({device_set_by})",
                  "{!device_set_by}leave the device out (--device)"}},
    {.name = {"EH-S30", "installation cannot be used"},
     .meaning =
         "The folder named as an existing installation cannot be read, or a part of its engine is missing.",
     .before = "the folder and the files in it",
     .causes = {"the installation {path} cannot be used: {problem}", "the installation cannot be used"},
     .remedies = {"name the folder of a conda environment, of a virtual environment, of Python packages "
                  "(site-packages) or of libraries",
                  "reinstall the package with the tool that installed it",
                  "engine-info --installations shows the installations found on this machine"},
     .exit_status = S::usage},
    {.name = {"EH-S31", "no engine in the installation"},
     .meaning = "The named folder contains no known engine and no CUDA libraries.",
     .before = "the libraries below the folder",
     .causes = {"{path} was read as {layout}, and it contains none of {looked_for...}",
                "no engine was found in {path}", "no engine was found in the installation"},
     .remedies = {"name the folder that contains the engine: {searched} was searched",
                  "install the engine there, or leave --installation out",
                  "engine-info --installations shows the installations found on this machine"}},
    {.name = {"EH-S32", "no plugin for the installation"},
     .meaning =
         "The engine of an existing installation was recognized, but no plugin made for it is available.",
     .before = "version, C++ ABI and library names of the installation against those of the plugins",
     .causes = {"{path} contains {installed}, and of the plugins for its engine none fits{?plugin}",
                "{path} contains {installed} for {system}, and there is no plugin for that",
                "{path} contains {installed}, and there is no plugin for it",
                "there is no plugin for the installation"},
     .remedies = {"{engine=pytorch}compile engines/pytorch for it: -DENGINEHOST_TORCH_ROOT= the folder that "
                  "contains its include and lib",
                  "add a repository that offers a plugin for it: --repository",
                  "leave --installation out to use a published build: engine-info {engine} --plan --explain "
                  "lists them"}},
    {.name = {"EH-S33", "a build that uses an existing installation cannot be exported"},
     .meaning = "The build's runtime is in an existing installation and not in the cache, so it can be "
                "neither exported nor pushed.",
     .before = "the record of the installed build",
     .causes = {"{build} uses files in {path}, outside the cache", "the build uses files outside the cache"},
     .remedies = {"use a published build: engine-info ENGINE --plan --explain lists them",
                  "copy the installation with the tools that made it, and name it on the other machine with "
                  "--installation"}},
    {.name = {"EH-S34", "version not allowed by the policy"},
     .meaning =
         "The machine's policy allows a range of versions of this engine, and the build is of another.",
     .before = "\"versions\" of the policy",
     .causes = {"{build} is of version {found}, and the policy of {file} allows {range}",
                "the policy of {file} allows {range}", "the policy does not allow this version"},
     .remedies = {"use an allowed version: engine-info ENGINE --plan --explain lists those that fit",
                  "administrator: change \"versions\" of the policy in {file}"},
     .exit_status = S::forbidden,
     .category = Category::policy},
    {.name = {"EH-S35", "nothing to go back to"},
     .meaning = "A rollback was asked for, and no older build of the engine is installed or was used before "
                "the last update; or the older build must not be used any more.",
     .before = "the record of the last update and the installed builds",
     .causes = {"{build} of {engine} was used before, and must not be used any more: {reason}",
                "{build} of {engine} was used before, and is no longer in the cache ({size} to fetch)",
                "{build} of {engine} was used before, and no repository lists it any more",
                "{engine} {version} is the oldest installed version, and no update is on record",
                "no build of {engine} is installed"},
     .remedies =
         {"{?command}{command}, then engine-cache rollback {engine|word}",
          "{!command}to use another version, name it: engine-info {engine|word} --plan --explain lists "
          "them"}},
    {.name = {"EH-S36", "no repository to ask for updates"},
     .meaning = "An update was asked for, and the only repositories are folders of this machine: what they "
                "list changes when EngineHost itself is updated, or when somebody writes to them.",
     .before = "the configured repositories",
     .causes = {"no repository on the web is configured"},
     .remedies = {"add one: \"repositories\": [\"https://…\"] in the configuration (docs/settings.md), or "
                  "--repository for one command",
                  "update EngineHost, which brings a newer list of builds",
                  "engine-info, with the name of an engine and --from-index, opens its newest release of the "
                  "package index without a repository"}},
    {.name = {"EH-S37", "build not derived from the package index"},
     .meaning =
         "--from-index asks for a release of the package index, and no build of it can be derived here. "
         "Deriving needs the engine's plan, which came with EngineHost, and a plugin that serves the "
         "release.",
     .before = "the plan of the engine, and the releases that the package index lists",
     .causes = {"no plan in {plans} says what of the package index is {engine}; there are plans of "
                "{planned...}",
                "no plan in {plans} says what of the package index is {engine}",
                "{own_repository=none}EngineHost's own repository, whose plugins derived builds need, is not "
                "used",
                "the plan of {engine} has no row for {no_row_for} that the request allows; its flavors there "
                "are {flavor_here...}",
                "the plan of {engine} has no row for {no_row_for}",
                "the request is offline, and of {engine} only {before...} was derived here before",
                "the request is offline, and nothing of {engine} was derived here before{?offline}",
                "{project} {unusable} is held back until {until}: {reason}",
                "{project} {unusable} is not used: {reason}",
                "{engine} {unserved} is on the package index, and the plugins of this EngineHost serve "
                "{served}",
                "the package index has no release {unknown} of {project}; the nearest are {nearest...}",
                "the package index has no release {unknown} of {project}",
                "no build can be derived from the package index"},
     .remedies =
         {"{?plans}use an engine with a plan, or a repository that lists the build: --repository",
          "{?own_repository}leave out what excludes it: \"repositories_default\" in the configuration "
          "or the policy",
          "{?no_row_for}leave the flavor and the device out, or request a flavor of the plan",
          "{?offline}run once without --offline",
          "{?until}wait: the plan holds a release back for {days} days, because a harmful one is "
          "withdrawn within days",
          "{?nearest}request another release: engine-info {engine|word} --from-index opens the newest",
          "{?unserved}request a release in that range, or update EngineHost",
          "{?adapter}an adapter for PyTorch {adapter} is compiled with the headers of its wheel: "
          "engines/pytorch/fetch_headers.py and -DENGINEHOST_TORCH_ROOT (docs/CONTRIBUTING.md, A new "
          "release of an engine)"}},
    {.name = {"EH-S40", "not in the lock file"},
     .meaning =
         "The request opens with a lock file, and the file has no entry for the engine on this platform.",
     .before = "the entries of the lock file",
     .causes = {"{lock} has no entry for {engine} on {platform}; did you mean {nearest}? It has {locked...}",
                "{lock} has no entry for {engine} on {platform}; it has {locked...}",
                "{lock} has no entry for {engine} on {platform}; it is empty"},
     .remedies = {"{command} adds it",
                  "leave the lock out (--lock, ENGINEHOST_LOCK, \"lock\" in the configuration or the API)"}},
    {.name = {"EH-S41", "other bytes than the lock file names"},
     .meaning = "The build that the lock file names is offered with other files than those that were locked. "
                "The plugin of a repository in a folder is compared by version and C++ ABI.",
     .before = "the digests of the build's archives against the lock file",
     .causes = {"{component} of {build}: {lock} wants {want}; {repository} has {have}",
                "{component} of {build}: {lock} wants {want}; it has {have}"},
     .remedies = {"ask the publisher why the files of {build} changed",
                  "if the change is right, lock it: engine-cache lock {engine|word} -o {lock|word}"},
     .exit_status = S::wrong_bytes},
    {.name = {"EH-S42", "request and lock file contradict each other"},
     .meaning = "The request names a version, a required flavor or a build that the lock file excludes.",
     .before = "the request against the entries of the lock file",
     .causes = {"{lock} locks {engine} to {locked...}; the request asks for {asked}"},
     .remedies = {"leave {asked} out of the request to open what is locked", "{command} locks it instead"},
     .exit_status = S::usage},
    {.name = {"EH-S43", "lock file of a newer EngineHost"},
     .meaning =
         "The lock file has a newer format, or marks a member as critical that this version does not know.",
     .before = "the members \"format\" and \"critical\" of the lock file",
     .causes = {"{lock} has format {found}; this version reads format {supported}",
                "{lock} marks {member} as critical; this version does not know it"},
     .remedies = {"update EngineHost"},
     .exit_status = S::usage},
    {.name = {"EH-S44", "lock file has a mistake"},
     .meaning = "The lock file is no JSON, or lacks a member, or a member has the wrong type. Such a file is "
                "neither used nor replaced.",
     .before = "strict reading of the file",
     .causes = {"{file}, line {line}, column {column}: {member}: {problem}; the nearest known name is "
                "\"{nearest}\"",
                "{file}, line {line}, column {column}: {member}: {problem}",
                "{file}, line {line}, column {column}: {problem}"},
     .remedies = {"{?nearest}write \"{nearest}\" in line {line} of {file}, if that is what was meant",
                  "correct line {line} of {file}, or name another file if it is no lock file"},
     .exit_status = S::usage},
    {.name = {"EH-S45", "locked build must not be used"},
     .meaning =
         "The build that the lock file names was withdrawn or blocked. A lock file does not change that.",
     .before = "withdrawals and blocks of the repositories and the policy",
     .causes = {"{lock} names {build}, which must not be used any more: {reason}"},
     .remedies = {"engine-info --code {first_code} explains the reason",
                  "lock another build: engine-cache lock {engine|word} -o {lock|word}"}},
    {.name = {"EH-S46", "locked build not offered"},
     .meaning = "The build that the lock file names is not installed, and no repository lists it.",
     .before = "all repositories and the installed builds",
     .causes = {"{lock} names {build}, which is not installed, and no repository lists it; missing: "
                "{component...}"},
     .remedies =
         {"name the repository that it came from (--repository)",
          "bring it from a machine that has it: there engine-cache export locked.bundle {build|word}; "
          "then engine-cache import locked.bundle",
          "lock another build: engine-cache lock {engine|word} -o {lock|word}"}},
};

}  // namespace selection_table

Table selection_entries() { return {selection_table::entries, S::nothing_fits, Category::request}; }

}  // namespace enginehost::explain
