// The flags that say where builds, the cache and the machine are: a command that is printed as a remedy needs
// those that the command which failed was given, or it asks something else.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "host/commands/cli.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {

// Notes --cache, --repository, --installation, --platform and engine-manifest's folder as they were parsed.
// Once, from the first thread.
void note_given_flags(const CLI::App& app);

// Of several --platform the one that is decided for from now on; the others are not said.
void decides_for(const std::string& platform);

// The sentence, with those flags behind the name of each command of ours in it that knows them and does not
// say them itself: "engine-info --cache /srv/builds reference --plan --explain".
std::string with_given_flags(std::string_view sentence);

// Returns explain::describe(), with the flags in its remedies.
std::string described(Diagnosis diagnosis, const explain::Style& style = {});
// The document, with every "remedy" in it so.
Json document_with_given_flags(const Json& document);

}  // namespace enginehost::commands
