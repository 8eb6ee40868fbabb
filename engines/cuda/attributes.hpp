// Attributes of an ONNX operation; errors are thrown as this adapter's Failure.
#pragma once
#include "engines/cuda/failure.hpp"
#include "engines/support/attributes.hpp"

namespace enginehost::engines::cuda {

using Attributes = engines::Attributes<Failure>;

}  // namespace enginehost::engines::cuda
