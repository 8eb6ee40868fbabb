// Whether two engines gave the same answer to one case.
#pragma once
#include <functional>

#include "tests/gpu/compared_engine.hpp"

namespace enginehost::gpu {

struct Agreement {
  enum Kind {
    agree,        // the same tensor, as far as its arithmetic can be the same
    both_refuse,  // as wrong, unsupported or too large
    one_has_not,  // one reports that it has no code for this, which is allowed
    disagree
  } kind = agree;
  std::string text;        // of a disagreement; for one_has_not the engine's message
  double error = 0;        // the largest error, relative to the element's scale
  double share = 0;        // the largest share of the allowed error
  std::size_t spread = 0;  // elements that are NaN beside one that is
};

// The allowed differences, and the reasons:
// - Add, Mul, Relu: nothing. IEEE 754 has one answer, also below the smallest normal number.
// - MatMul, Conv: (4 + 2 sqrt(k)) epsilon of the sum of |a b| over an element's k products. Rounding errors
//   of a sum in any order are random and grow with the root of its length. The certain bound, k epsilon,
//   would let TF32 pass, whose factors have an error of 2^-11. Fill::between has factors that TF32 cannot
//   hold at all. Whole numbers are exact in MatMul; Conv may be computed by transforms, which multiply by
//   fractions.
// - Softmax: (16 + 2 sqrt(n)) epsilon of the element: two units for each exponential, and a sum of n.
// The smallest normal number is added to each bound, because products and exponentials below it may lose
// their bits. An element that is NaN or infinite in one answer must be so in the other. In Conv a NaN may
// spread to its neighbors, since transforms work on tiles; such elements are counted.
//
// `scale` returns the sums of |a b|; it is called for MatMul and Conv only.
Agreement compare(const Case& of, const Outcome& first, const Outcome& second,
                  const std::function<Outcome()>& scale);

}  // namespace enginehost::gpu
