// Published engines as a whole: 1.4 GB of downloads, 3.8 GB unpacked.
#include "tests/binary/oracle_wheels.hpp"

namespace enginehost::binary::oracle {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Published, OracleWheels,
    testing::Values(Wheel{"torch", "2.0.1", "win_amd64", 16}, Wheel{"torch", "2.0.1", "macosx_11_0_arm64", 9},
                    Wheel{"torch", "2.9.1", "win_amd64", 11}, Wheel{"torch", "2.9.1", "macosx_11_0_arm64", 9},
                    Wheel{"onnxruntime", "1.27.0", "win_amd64", 3},
                    Wheel{"onnxruntime", "1.27.0", "macosx_14_0_arm64", 2},
                    Wheel{"onnxruntime-directml", "1.22.0", "win_amd64", 4},
                    Wheel{"tensorflow-intel", "2.17.0", "win_amd64", 67},
                    Wheel{"tensorflow", "2.17.0", "macosx_12_0_arm64", 69},
                    Wheel{"scipy", "1.15.2", "win_amd64", 116},
                    Wheel{"scipy", "1.15.2", "macosx_14_0_arm64", 118},
                    Wheel{"opencv-python-headless", "4.11.0.86", "win_amd64", 2},
                    Wheel{"opencv-python-headless", "4.11.0.86", "macosx_13_0_arm64", 66},
                    Wheel{"pyarrow", "19.0.1", "win_amd64", 30},
                    Wheel{"pyarrow", "19.0.1", "macosx_12_0_arm64", 36},
                    Wheel{"intel-openmp", "2025.1.0", "win_amd64", 8}),
    name_of_test);

}  // namespace
}  // namespace enginehost::binary::oracle
