// Errors that are diagnoses of the doctor too (src/retrograd/doctor): the Python exception has the code as its attribute `code`.
#pragma once

#include "core/errors.h"

namespace retrograd {

class CodedError : public Error {
 public:
  CodedError(ErrorKind kind, const char* code, std::string message) : Error(kind, std::move(message)), code_(code) {}
  const char* code() const { return code_; }

 private:
  const char* code_;  // static
};

template <class... Args> [[noreturn, gnu::cold, gnu::noinline]] void fail_as(const char* code, const Args&... args) {
  throw CodedError(ErrorKind::Runtime, code, str_cat(args...));
}

// The error in flight with another message.
[[noreturn]] inline void rethrow_with(const Error& e, std::string message) {
  if (const auto* coded = dynamic_cast<const CodedError*>(&e)) throw CodedError(e.kind(), coded->code(), std::move(message));
  throw Error(e.kind(), std::move(message));
}

}  // namespace retrograd
