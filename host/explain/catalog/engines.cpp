// EH-E: errors that the plugin itself reports.
#include "host/explain/catalog/tables.hpp"

namespace enginehost::explain {
namespace engines_table {

constexpr Entry entries[] = {
    {.name = {"EH-E01", "the engine reports an error"},
     .meaning = "The plugin itself reported the error; its message and facts are in the evidence.",
     .after = "the plugin's report (status, origin, native code, message)",
     .causes = {"{overcome} succeeded but reported a problem: {message} ({origin} {native})",
                "{overcome} succeeded but reported a problem: {message}",
                "{overcome} succeeded but reported a problem without a message",
                "the engine reports: {message} ({origin} {native}; {missing_library} is missing)",
                "the engine reports: {message} ({origin} {native})", "the engine reports: {message}",
                "the engine reports {status} without a message"},
     .remedies = {"install {missing_library}: {provided_by...}",
                  "{status=ENGINE_UNAVAILABLE}{!missing_library}check that this machine has the driver and "
                  "the device that the engine names (engine-info shows both), or use a build for the "
                  "processor: engine-info ENGINE --plan --explain lists them",
                  "{status=ENGINE_NO_MEMORY}free memory, or request less",
                  "{status=ENGINE_CORRUPT}{?model}check that {model} is complete, and in a format that this "
                  "engine reads",
                  "{status=ENGINE_CORRUPT}{!model}{!as_published}fetch the files again: engine-cache verify "
                  "--deep --repair",
                  "{status=ENGINE_CORRUPT}{?as_published}use another version, and ask the publisher to "
                  "replace the files: they were published like this",
                  "{status=ENGINE_LOST}start the program again: the device was lost",
                  "{status=ENGINE_UNSUPPORTED}use another build or engine: engine-info ENGINE --plan "
                  "--explain lists them",
                  "{status=ENGINE_INTERNAL}use another version or build (engine-info ENGINE --plan --explain "
                  "lists them), and report the message to the publisher of this one",
                  "{status=ENGINE_INVALID}{?option_set_by}correct \"options\" of {build} in its manifest, "
                  "which sets {option}, or ask its publisher to do so",
                  "{status=ENGINE_INVALID}{?option_set_by}use another version or build: engine-info ENGINE "
                  "--plan --explain lists them",
                  "{status=ENGINE_INVALID}{!option_set_by}{?stage}use another version or build (engine-info "
                  "ENGINE --plan --explain lists them), and report the message to the publisher of this one",
                  "{status=ENGINE_INVALID}{!stage}{?model}correct the request: {model}, its format, or the "
                  "device to load it on",
                  "{status=ENGINE_INVALID}{!stage}{!model}correct the request"}},
};

}  // namespace engines_table

Table engines_entries() { return {engines_table::entries, S::not_loaded, Category::host}; }

}  // namespace enginehost::explain
