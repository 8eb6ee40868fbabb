// The shipped manifests as they are where no plugin was compiled. Which adapters of PyTorch a build tree has
// depends on the machine.
#pragma once
#include <gtest/gtest.h>

#include "base/child_process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

inline std::string repository_without_plugins() {
  static const TemporaryFolder folder;
  static const bool packed = [] {
    ChildRequest request;
    request.argv = {"python3",
                    source_path("/manifests/pack_repository.py"),
                    "--templates=" + source_path("/manifests/templates"),
                    "--output=" + folder.path().native(),
                    "--name=without-plugins",
                    "--version=1",
                    "--os=linux",
                    "--arch=x86_64"};
    const auto child = run_child(request);
    return child && child->succeeded();
  }();
  EXPECT_TRUE(packed);
  return folder.path().native();
}

}  // namespace enginehost::test
