// The flags that say where builds, the cache and the machine are. A command that is printed as a remedy needs
// those of the command that failed; without them it would use other builds.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnosis.hpp"
#include "base/json.hpp"
#include "host/explain/explain.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace enginehost::commands {

// Notes the parsed --cache, --repository, --installation, --platform and engine-manifest's folder. Call it
// once, from the main thread.
void note_given_flags(const CLI::App& app);

// Names the --platform that is decided for from now on; the others are not repeated.
void decides_for(const std::string& platform);
// Adds a --repository that is repeated from now on.
void names_repository(const std::string& location);

// Returns the sentence with these flags added to each EngineHost command in it that knows them and does not
// have them: "engine-info --cache /srv/builds reference --plan --explain".
std::string with_given_flags(std::string_view sentence);

// Returns explain::describe() with the flags added to the remedies.
std::string described(const Diagnosis& diagnosis, const explain::Style& style = {});
// Returns the document with the flags added to every "remedy".
Json document_with_given_flags(const Json& document);

}  // namespace enginehost::commands
