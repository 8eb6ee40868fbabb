// What export and fulfil say of the bundle that they wrote.
#pragma once
#include "host/offline/export_bundle.hpp"

namespace enginehost::commands {

// As members of a document, and, with `as_text`, on stdout.
Json reported(const offline::Exported& exported, const std::filesystem::path& file, bool as_text);

// On record: what left this machine, and which licenses somebody decided about. What cannot be written is
// among the world's warnings.
void note_export(open::OpenContext& context, const offline::Exported& exported,
                 const std::filesystem::path& file);

}  // namespace enginehost::commands
