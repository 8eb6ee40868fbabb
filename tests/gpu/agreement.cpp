#include "tests/gpu/agreement.hpp"

#include <cmath>
#include <cstdio>

namespace enginehost::gpu {
namespace {

Agreement disagreement(std::string text) { return {Agreement::disagree, std::move(text), 0, 0, 0}; }

bool is_proper_refusal(const Outcome& outcome) {
  return outcome.status == ENGINE_INVALID || outcome.status == ENGINE_UNSUPPORTED ||
         outcome.status == ENGINE_UNAVAILABLE || outcome.status == ENGINE_NO_MEMORY;
}

Agreement compare_refusals(const Outcome& first, const Outcome& second) {
  const std::string both = "first " + first.text() + " | second " + second.text();
  for (const Outcome* one : {&first, &second})
    if (!one->accepted() && !is_proper_refusal(*one)) return disagreement(both);
  if (!first.accepted() && !second.accepted()) return {Agreement::both_refuse, both, 0, 0, 0};
  const Outcome& refused = first.accepted() ? second : first;
  if (refused.status == ENGINE_UNSUPPORTED) return {Agreement::one_has_not, both, 0, 0, 0};
  return disagreement(both);
}

// The number of products in the sum of one element.
double terms_of(const Case& of) {
  if (of.operation == "MatMul") return static_cast<double>(of.inputs[0].shape.back());
  if (of.operation == "Conv") {
    double terms = 1;
    for (std::size_t i = 1; i < of.inputs[1].shape.size(); ++i)
      terms *= static_cast<double>(of.inputs[1].shape[i]);
    return terms;
  }
  double longest = 1;
  for (const std::int64_t size : of.inputs[0].shape) longest = std::max(longest, static_cast<double>(size));
  return longest;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string element_text(const Outcome& outcome, std::size_t index) {
  Shape at(outcome.shape.size());
  for (std::size_t i = at.size(); i-- > 0; index /= static_cast<std::size_t>(outcome.shape[i]))
    at[i] = static_cast<std::int64_t>(index % static_cast<std::size_t>(outcome.shape[i]));
  return text_of(at);
}

}  // namespace

Agreement compare(const Case& of, const Outcome& first, const Outcome& second,
                  const std::function<Outcome()>& scale) {
  for (const Outcome* one : {&first, &second})
    if (!one->broken.empty()) return disagreement((one == &first ? "first: " : "second: ") + one->broken);
  if (!first.accepted() || !second.accepted()) return compare_refusals(first, second);
  const Type* type = type_of(first.dtype);
  if (first.shape != second.shape || type == nullptr || type != type_of(second.dtype))
    return disagreement("first gave " + first.text() + " | second gave " + second.text());

  const bool products = of.operation == "MatMul" || of.operation == "Conv";
  const bool exact = !products && of.operation != "Softmax";
  const bool whole = of.operation == "MatMul" && of.inputs[0].fill == Fill::whole;
  const double factor = exact || whole || type->epsilon == 0 ? 0
                        : products ? (4 + 2 * std::sqrt(terms_of(of))) * type->epsilon
                                   : (16 + 2 * std::sqrt(terms_of(of))) * type->epsilon;
  const double floor = factor == 0 ? 0 : 2 * type->smallest;
  const Outcome sizes = products && factor != 0 ? scale() : Outcome{};
  if (!sizes.broken.empty() || (products && factor != 0 && sizes.shape != first.shape))
    return disagreement("the scale of it: " + sizes.text());

  Agreement out;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < first.values.size(); ++i) {
    const double a = first.values[i], b = second.values[i];
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (of.operation == "Conv" && of.inputs[0].fill == Fill::infinite && std::isnan(b)) {
      out.spread += 1;
      continue;
    }
    const double size = products && factor != 0 ? sizes.values[i] : std::fabs(a);
    const double error = std::fabs(a - b), allowed = factor * size + floor;
    if (std::isfinite(error) && error <= allowed) {
      out.share = std::max(out.share, error / allowed);
      if (size > type->smallest) out.error = std::max(out.error, error / size);
      continue;
    }
    if (++wrong > 1) continue;
    out.text = "at " + element_text(first, i) + " of " + text_of(first.shape) + " first " + number(a) +
               ", second " + number(b) + ", allowed are " + number(allowed);
  }
  if (wrong == 0) return out;
  out.kind = Agreement::disagree;
  out.text = std::to_string(wrong) + " of " + std::to_string(first.values.size()) +
             " elements differ, the first " + out.text;
  return out;
}

}  // namespace enginehost::gpu
