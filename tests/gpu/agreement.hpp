// Whether two engines gave the same answer to one case.
#pragma once
#include <functional>

#include "tests/gpu/compared_engine.hpp"

namespace enginehost::gpu {

struct Agreement {
  enum Kind {
    agree,        // the same tensor, as far as its arithmetic can be the same
    both_refuse,  // as wrong, unsupported or too large
    one_has_not,  // one says that it has no code for this, which an engine may
    disagree
  } kind = agree;
  std::string text;        // of a disagreement; of one_has_not what was said
  double error = 0;        // the largest, relative to the element's scale
  double share = 0;        // of what is allowed
  std::size_t spread = 0;  // elements that are NaN beside one that is
};

// What is allowed, and why:
// - Add, Mul, Relu: nothing. IEEE 754 has one answer, also below the smallest normal number.
// - MatMul, Conv: (4 + 2 sqrt(k)) epsilon of the sum of |a b| over an element's k products. Rounding errors
// of a sum in any
//   order are random and grow with the root of its length; the bound that holds for certain, k epsilon, would
//   let TF32 pass, whose factors have an error of 2^-11. Fill::between has factors that TF32 cannot hold at
//   all. Whole numbers are exact in MatMul; Conv may be computed by transforms, which multiply by fractions.
// - Softmax: (16 + 2 sqrt(n)) epsilon of the element: two units for each exponential, and a sum of n.
// To each the smallest normal number is added, below which products and exponentials may lose their bits.
// An element that is NaN or infinite in one is so in the other. In Conv a NaN may take its neighbors with
// it, since transforms work on tiles: such elements are counted.
//
// `scale` gives the sums of |a b|; it is asked for MatMul and Conv only.
Agreement compare(const Case& of, const Outcome& first, const Outcome& second,
                  const std::function<Outcome()>& scale);

}  // namespace enginehost::gpu
