// Attributes of an ONNX operation; errors are thrown as this adapter's Failure.
#pragma once
#include "engines/pytorch/failure.hpp"
#include "engines/support/attributes.hpp"

namespace enginehost::engines::pytorch {

using Attributes = engines::Attributes<Failure>;

}  // namespace enginehost::engines::pytorch
