// An engine "toy" whose builds differ in what they require, and its plans.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "host/explain/explain.hpp"
#include "host/resolve/checks.hpp"
#include "tests/resolve/machines.hpp"

namespace enginehost::resolve {

inline manifest::Catalog toy_catalog(const std::string& builds) {
  const auto document =
      parse_json(R"({"format":1,"engine":"toy","serial":1,"created":"2026-01-01T00:00:00Z",)"
                 R"("expires":"2036-01-01T00:00:00Z","licenses":{"toy":{"id":"MIT","accept":"implicit"}},)"
                 R"("components":{"p":{"version":"1.0","license":"toy","artifacts":[{"sha256":")" +
                     std::string(64, '0') +
                     R"(","size":1,"archive":"zip","sources":[{"url":"https://example.invalid/p.zip"}]}]}},)"
                     R"("builds":[)" +
                     builds + "]}",
                 "toy.json");
  EXPECT_TRUE(document);
  manifest::Catalog made;
  const auto manifest = manifest::read_manifest(*document, "/repository", "toy.json");
  EXPECT_TRUE(manifest) << (manifest ? "" : std::string(manifest.error().value(Key::problem)));
  if (manifest) merge(made, *manifest);
  return made;
}

inline std::string toy_build(const std::string& flavor, const std::string& requires_) {
  return R"({"id":"toy-1.0-)" + flavor + R"(","version":"1.0","flavor":")" + flavor +
         R"(","os":"linux","arch":"x86_64","requires":)" + requires_ +
         R"(,"plugin":{"component":"p","path":"libengine_toy.so"},"components":[]})";
}

inline const std::string toy_cpu = toy_build("cpu", "{}"),
                         toy_rocm = toy_build("rocm62",
                                              R"({"rocm":{"version":">=6.0","gfx":["gfx1030","gfx1100"]}})"),
                         toy_cu130 = toy_build(
                             "cu130", R"({"cuda":{"toolkit":"13.0","sass":["8.0","12.0"],"ptx":["12.0"]}})"),
                         toy_cu126 = toy_build(
                             "cu126", R"({"cuda":{"toolkit":"12.6","sass":["6.0","8.0"],"ptx":["9.0"]}})");

inline Plan toy_plan(const Platform& machine, const std::string& builds, const std::string& device = "") {
  Request request;
  request.engine = "toy";
  request.device = device;
  return decide(machine, toy_catalog(builds), {}, request, now);
}

inline const Candidate& toy_candidate(const Plan& plan, const std::string& flavor) {
  for (const Candidate& one : plan.candidates)
    if (one.build->flavor == flavor) return one;
  ADD_FAILURE() << flavor;
  return plan.candidates.front();
}

inline std::string toy_text(const Plan& plan, const std::string& flavor) {
  const auto diagnosis = toy_candidate(plan, flavor).diagnosis();
  return diagnosis ? explain::describe(*diagnosis) : "fits";
}

}  // namespace enginehost::resolve
