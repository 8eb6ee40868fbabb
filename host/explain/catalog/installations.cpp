// EH-S30 to EH-S33: engines that other tools installed on this machine.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;
constexpr Category request = Category::request;

constexpr Entry entries[] = {
    {.code = "EH-S30",
     .title = "installation cannot be used",
     .meaning =
         "The folder named as an existing installation cannot be read, or a part of its engine is missing.",
     .before = "the folder and the files in it",
     .causes = {"the installation {path} cannot be used: {problem}", "the installation cannot be used"},
     .remedies = {"name the folder of a conda environment, of a virtual environment, of Python packages "
                  "(site-packages) or of libraries",
                  "reinstall the package with the tool that installed it",
                  "engine-info --installations shows the installations found on this machine"},
     .exit_status = S::usage,
     .category = request},
    {.code = "EH-S31",
     .title = "no engine in the installation",
     .meaning = "The named folder contains no known engine and no CUDA libraries.",
     .before = "the libraries below the folder",
     .causes = {"{path} was read as {layout}, and it contains none of {looked_for...}",
                "no engine was found in {path}", "no engine was found in the installation"},
     .remedies = {"name the folder that contains the engine: {searched} was searched",
                  "install the engine there, or leave --installation out",
                  "engine-info --installations shows the installations found on this machine"},
     .exit_status = S::nothing_fits,
     .category = request},
    {.code = "EH-S32",
     .title = "no plugin for the installation",
     .meaning =
         "The engine of an existing installation was recognized, but no plugin made for it is available.",
     .before = "version, C++ ABI and library names of the installation against those of the plugins",
     .causes = {"{path} contains {installed}, but there are plugins only for {plugin...}",
                "{path} contains {installed} for {system}, and there is no plugin for that",
                "{path} contains {installed}, and there is no plugin for it",
                "there is no plugin for the installation"},
     .remedies = {"{engine=pytorch}compile engines/pytorch for it: -DENGINEHOST_TORCH_ROOT= the folder that "
                  "contains its include and lib",
                  "add a repository that offers a plugin for it: --repository",
                  "leave --installation out to use a published build: engine-info {engine} --plan --explain "
                  "lists them"},
     .exit_status = S::nothing_fits,
     .category = request},
    {.code = "EH-S33",
     .title = "a build that uses an existing installation cannot be exported",
     .meaning = "The build's runtime is in an existing installation and not in the cache, so it can be "
                "neither exported nor pushed.",
     .before = "the record of the installed build",
     .causes = {"{build} uses files in {path}, outside the cache", "the build uses files outside the cache"},
     .remedies = {"use a published build: engine-info ENGINE --plan --explain lists them",
                  "copy the installation with the tools that made it, and name it on the other machine with "
                  "--installation"},
     .exit_status = S::nothing_fits,
     .category = request},
};

}  // namespace

std::span<const Entry> installation_entries() { return entries; }

}  // namespace enginehost::explain
