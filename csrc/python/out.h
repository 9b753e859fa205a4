// out=: what generated bindings do with it. Checks before the op, then its result written into the tensors that were given.
#pragma once

#include "python/bind.h"

namespace retrograd {

// What out= may be: see Out in optable/facts.py.
struct OutRule {
  // Words for an out= of another dtype than the result, for each result or for all; empty: any that takes it.
  std::span<const char* const> exact = {};
  const char* cast = nullptr;  // words for one that does not, where they are not the usual ones
  bool same_kind = false;      // one of a real result is not complex
  bool silent = false;         // resized without a warning
  bool bytes = false;          // uint8 will do for bool
};

// A handler is to see the call: it gets the arguments, and what out= gives after them.
PyObject* intercept_out(OpRecord& op, const Parsed& p);

void check_out(const Parsed& p, const char* op, bool needs_grad);
PyObject* finish_out(const Parsed& p);
PyObject* write_out(const Parsed& p, const Tensor& result, const OutRule& rule);
PyObject* write_out(const Parsed& p, std::span<const Tensor> results, const OutRule& rule);
template <class... Ts> PyObject* write_out(const Parsed& p, const std::tuple<Ts...>& result, const OutRule& rule) {
  return std::apply(
      [&](const auto&... t) {
        const Tensor all[] = {t...};
        return write_out(p, std::span<const Tensor>(all), rule);
      },
      result);
}
inline std::optional<DType> out_dtype(const Parsed& p, std::optional<DType> given) { return given ? given : p.out().dtype(); }

// out= of a factory: it has the dtype of the tensor it is given, resizes that without a word, and may give it requires_grad.
enum class Creates : uint8_t { Values, OneValue, Nothing, Sequence, Range };
DType begin_create(const Parsed& p, const char* op, std::optional<DType> dtype);
PyObject* finish_create(const Parsed& p, const Tensor& result, Creates what, bool requires_grad);
void begin_draw(const Parsed& p, IntSpan size, bool counts);
PyObject* finish_draw(const Parsed& p, bool requires_grad);

}  // namespace retrograd
