#include "ops/out.h"

#include "core/promote.h"
#include "ops/data.h"

namespace retrograd {

void fail_out_dtype(std::string_view words, DType out, DType result) {
  constexpr std::string_view kType = "TypeError: ";
  const bool type = words.starts_with(kType);
  std::string text(type ? words.substr(kType.size()) : words);
  const std::pair<std::string_view, std::string> values[] = {{"{out}", dtype_title(out)},
                                                             {"{result}", dtype_title(result)},
                                                             {"{out_cpp}", cpp_type_name(out)},
                                                             {"{result_cpp}", cpp_type_name(result)}};
  for (const auto& [key, value] : values)
    for (size_t at; (at = text.find(key)) != std::string::npos;) text.replace(at, key.size(), value);
  if (words == kCannotCast)
    text += str_cat(
        "\n  A tensor that is written keeps its dtype.\n  Hint: use the result of the op that is not in place, or make the tensor of ",
        dtype_name(result), " first: .to(torch.", dtype_name(result), ").");
  fail(type ? ErrorKind::Type : ErrorKind::Runtime, text);
}

void resize_out(const Tensor& out, IntSpan sizes) {
  if (same_sizes(out.sizes(), sizes)) return;
  if (out.numel() != 0) {
    const std::string text = str_cat("An output with one or more elements was resized since it had shape ", out.sizes(),
                                     ", which does not match the required output shape ", sizes,
                                     ". Pass out= of the right shape, or resize it first with out.resize_(0).");
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw PythonError();
  }
  resize_data(out, sizes);
}

}  // namespace retrograd
