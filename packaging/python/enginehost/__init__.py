"""EngineHost chooses, verifies, loads and diagnoses builds of ML engines.

The commands engine-info, engine-run, engine-cache and engine-manifest come with this package. It loads no native code by
itself.
"""
import pathlib

__version__ = "@VERSION@"
__all__ = ["__version__", "cmake_dir", "library"]

_root = pathlib.Path(__file__).resolve().parent


def cmake_dir() -> str:
    """Returns the folder with EngineHostConfig.cmake, for CMAKE_PREFIX_PATH or EngineHost_DIR."""
    return str(_root / "lib" / "cmake" / "EngineHost")


def library() -> str:
    """Returns the path of libenginehost.so.0, whose C API is in include/enginehost/enginehost.h."""
    return str(_root / "lib" / "libenginehost.so.0")
