// EH-S30 to EH-S33: engines that others installed on this machine.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace {

using history::Category;
using S = ExitStatus;
constexpr Category request = Category::request;

constexpr Entry entries[] = {
    {.code = "EH-S30",
     .title = "installation cannot be used",
     .meaning = "What was named as an existing installation is no folder that can be read, or a part of the "
                "engine in it is "
                "missing.",
     .before = "the folder and the files in it",
     .causes = {"the installation {path} cannot be used: {problem}", "the installation cannot be used"},
     .remedies = {"name the folder of a conda environment, of a virtual environment, of Python packages "
                  "(site-packages) "
                  "or of libraries",
                  "install the package again with what installed it",
                  "engine-info --installations shows what was found on this machine"},
     .exit_status = S::usage,
     .category = request},
    {.code = "EH-S31",
     .title = "no engine in the installation",
     .meaning = "The folder that was named holds neither an engine that is known nor CUDA's libraries.",
     .before = "the libraries below the folder",
     .causes = {"{path} was read as {layout}, and none of {looked_for...} is in it",
                "no engine was found in {path}", "no engine was found in the installation"},
     .remedies = {"name the folder that holds it: {searched} was searched",
                  "install the engine there, or leave --installation out",
                  "engine-info --installations shows what was found on this machine"},
     .exit_status = S::nothing_fits,
     .category = request},
    {.code = "EH-S32",
     .title = "no plugin for the installation",
     .meaning = "The engine of an existing installation was recognized, and no plugin is at hand that was "
                "made for it.",
     .before = "version, C++ ABI and library names of the installation against those of the plugins",
     .causes = {"{path} holds {installed}; there are plugins for {plugin...}",
                "{path} holds {installed} for {system}, and there is no plugin for that",
                "{path} holds {installed}, and there is no plugin for it",
                "there is no plugin for the installation"},
     .remedies =
         {"{engine=pytorch}compile engines/pytorch for it: -DENGINEHOST_TORCH_ROOT= the folder that "
          "holds its "
          "include and lib",
          "add a repository that offers a plugin for it: --repository",
          "leave --installation out, and a published build is taken: engine-info {engine} --plan --explain"},
     .exit_status = S::nothing_fits,
     .category = request},
    {.code = "EH-S33",
     .title = "build in place cannot be taken away",
     .meaning = "The build's runtime lies in an existing installation and not in the cache, so that it can "
                "be neither exported "
                "nor pushed.",
     .before = "the record of the installed build",
     .causes = {"{build} uses what lies in {path}, outside the cache",
                "the build uses files outside the cache"},
     .remedies =
         {"take a published build: engine-info ENGINE --plan --explain lists them",
          "carry the installation with the tools that made it, and name it there with --installation"},
     .exit_status = S::nothing_fits,
     .category = request},
};

}  // namespace

std::span<const Entry> installation_entries() { return entries; }

}  // namespace enginehost::explain
