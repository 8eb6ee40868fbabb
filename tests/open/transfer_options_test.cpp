// Settings of downloads reach the transfers.
#include <gtest/gtest.h>

#include "host/context/open_context.hpp"

namespace enginehost::open {
namespace {

TEST(TransferOptions, FollowTheSettings) {
  settings::Settings settings;
  EXPECT_EQ(OpenContext(settings).transfer_options().most_connections,
            transfer::TransferOptions().most_connections);
  settings.downloads.connections = 1;
  settings.downloads.retries = 7;
  const transfer::TransferOptions options = OpenContext(settings).transfer_options();
  EXPECT_EQ(options.most_connections, 1);
  EXPECT_EQ(options.retries, 7);
}

}  // namespace
}  // namespace enginehost::open
