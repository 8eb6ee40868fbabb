// Reports on a bundle that export or fulfil wrote.
#pragma once
#include "host/offline/export_bundle.hpp"

namespace enginehost::commands {

// Returns members of a document, and with `as_text` also prints them on stdout.
Json reported(const offline::Exported& exported, const std::filesystem::path& file, bool as_text);

// Notes in the audit log which builds left this machine, and which licenses were included by --redistribute.
// A failure to write becomes a warning of the context.
void note_export(open::OpenContext& context, const offline::Exported& exported,
                 const std::filesystem::path& file);

}  // namespace enginehost::commands
