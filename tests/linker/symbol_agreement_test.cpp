// Compares the symbol pass over the shared objects of this machine with the loader when it binds everything
// (ldd -r): which symbols are undefined, and in which file. A sample; all files with ENGINEHOST_EXHAUSTIVE
// set.
#include <gtest/gtest.h>

#include <iostream>
#include <set>

#include "base/environment.hpp"
#include "host/linker/symbols.hpp"
#include "tests/linker/known_differences.hpp"
#include "tests/linker/machine_libraries.hpp"
#include "tests/linker/real_loader.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::linker {
namespace {

using test::glibc_loader;

// "NAME in FILE" of every symbol that the loader cannot bind.
std::set<std::string> ask_loader_for_symbols(const std::string& file) {
  ChildRequest request;
  request.argv = {glibc_loader, file};
  request.environment = {"LD_LIBRARY_PATH", "LD_TRACE_LOADED_OBJECTS=1", "LD_WARN=yes", "LD_BIND_NOW=yes"};
  request.keep_bytes = 16u << 20;
  std::set<std::string> undefined;
  const Result<ChildOutcome> outcome = run_child(request);
  if (!outcome || outcome->signal != 0) return {"the loader died"};
  std::istringstream lines(outcome->output + outcome->error);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view without = "undefined symbol: ", with = "symbol ";
    if (line.starts_with(without)) {  // undefined symbol: f, version V1<tab>(/a/libx.so)
      const std::size_t tab = line.find('\t');
      const std::string name = line.substr(without.size(), line.find_first_of(",\t") - without.size());
      undefined.insert(name + " in " + test::real_path(line.substr(tab + 2, line.size() - tab - 3)));
    } else if (line.starts_with(with) && line.find(" not defined in file ") != std::string::npos) {
      // symbol f, version V1 not defined in file libx.so with link time reference<tab>(/a/liby.so)
      const std::size_t tab = line.find('\t');
      undefined.insert(line.substr(with.size(), line.find(',') - with.size()) + " in " +
                       test::real_path(line.substr(tab + 2, line.size() - tab - 3)));
    }
  }
  return undefined;
}

std::string as_text(const std::set<std::string>& set, const std::set<std::string>& without) {
  std::vector<std::string> some;
  for (const std::string& one : set)
    if (without.count(one) == 0 && some.size() < 4) some.push_back(one);
  return join(some, ", ");
}

TEST(RealLoader, AgreesOnTheUndefinedSymbolsOfSharedObjects) {
  if (!std::filesystem::exists(glibc_loader)) GTEST_SKIP() << "no " << glibc_loader << " here";
  Machine machine = describe_this_machine();
  machine.program.clear();
  machine.library_path.clear();
  machine.library_path_text.reset();
  test::KnownDifferences known(std::filesystem::path(test::source_path()) /
                               "tests/linker/known_differences.txt");
  const std::size_t step = environment_variable("ENGINEHOST_EXHAUSTIVE") ? 1 : 8;
  Reader reader;
  std::size_t compared = 0, checked = 0, undefined = 0;
  const std::vector<std::string> files = test::machine_libraries();
  for (std::size_t i = 0; i < files.size(); i += step) {
    const auto& info = reader.read(files[i]);
    if (!info || info->kind != binary::Kind::elf || test::is_loader_itself(files[i])) continue;
    // A program without a loader of its own has nothing to bind, and ld.so crashes for some.
    if (info->type == binary::Type::executable && info->interpreter.empty()) continue;
    Request request;
    request.file = files[i];
    const Closure closure = close(machine, request, reader);
    // An object that cannot be loaded has no symbols to bind.
    if (!closure.missing.empty() || !closure.versions.empty() || closure.objects.empty()) continue;
    const bool refused =
        std::any_of(closure.rejected.begin(), closure.rejected.end(), [](const Rejected& file) {
          return file.fatal && !file.why.ends_with("executable") && file.why != "refuses dlopen";
        });
    if (refused) continue;
    const SymbolFindings findings = undefined_symbols(closure, reader);
    std::set<std::string> found;
    for (const UndefinedSymbol& symbol : findings.undefined)
      found.insert(symbol.name + " in " + test::real_path(symbol.required_by));
    const std::set<std::string> expected = ask_loader_for_symbols(files[i]);
    known.compare(
        files[i], "symbols", found == expected,
        "only we say [" + as_text(found, expected) + "], only the loader [" + as_text(expected, found) + "]");
    ++compared;
    checked += findings.checked;
    undefined += found.size();
  }
  for (const std::string& line : known.unexplained()) ADD_FAILURE() << line;
  if (step == 1)
    for (const std::string& line : known.vanished()) ADD_FAILURE() << "listed, but does not differ: " << line;
  EXPECT_GT(compared, 20u);
  std::cout << compared << " files, " << checked << " imports looked up, " << undefined
            << " undefined symbols named by both, " << known.explained() << " explained differences\n";
}

}  // namespace
}  // namespace enginehost::linker
