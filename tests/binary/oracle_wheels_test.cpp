// Wheels of moderate size, one for each way of building them: delay-loaded DLLs (pywin32), Microsoft's
// runtime alone (msvc-runtime) and renamed within a package (scikit-learn, shapely: delvewheel), 32 bit
// (psutil), arm64; bundles, @rpath and @loader_path (delocate), universal files.
#include "tests/binary/oracle_wheels.hpp"

namespace enginehost::binary::oracle {
namespace {

INSTANTIATE_TEST_SUITE_P(
    Published, OracleWheels,
    testing::Values(
        Wheel{"onnxruntime", "1.22.0", "win_amd64", 3}, Wheel{"onnxruntime", "1.31.1", "win_arm64", 3},
        Wheel{"onnxruntime", "1.22.0", "macosx_13_0_universal2", 4}, Wheel{"numpy", "2.2.6", "win_amd64", 20},
        Wheel{"numpy", "2.2.6", "macosx_14_0_arm64", 19}, Wheel{"numpy", "2.4.6", "win_arm64", 20},
        Wheel{"safetensors", "0.8.0", "win_amd64", 1}, Wheel{"safetensors", "0.8.0", "macosx_11_0_arm64", 1},
        Wheel{"tokenizers", "0.23.3", "win_amd64", 1},
        Wheel{"tokenizers", "0.23.3", "macosx_10_12_x86_64", 1},
        Wheel{"nvidia-nvjpeg-cu12", "12.4.0.76", "win_amd64", 1}, Wheel{"pywin32", "312", "win_amd64", 50},
        Wheel{"msvc-runtime", "14.44.35112", "win_amd64", 20}, Wheel{"tbb", "2022.1.0", "win_amd64", 6},
        Wheel{"psutil", "7.0.0", "win32", 1}, Wheel{"shapely", "2.0.7", "win_amd64", 6},
        Wheel{"shapely", "2.0.7", "macosx_11_0_arm64", 5}, Wheel{"scikit-learn", "1.6.1", "win_amd64", 70},
        Wheel{"scikit-learn", "1.6.1", "macosx_12_0_arm64", 69}, Wheel{"h5py", "3.13.0", "win_amd64", 27},
        Wheel{"h5py", "3.13.0", "macosx_11_0_arm64", 27},
        Wheel{"pyobjc-framework-Quartz", "13.0", "macosx_10_9_universal2", 18}),
    name_of_test);

}  // namespace
}  // namespace enginehost::binary::oracle
