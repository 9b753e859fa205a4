// Docstrings of what is bound by hand. CPython takes the signature that inspect and help() show from the first line.
#pragma once

#define RG_DOC(signature, text) signature "\n--\n\n" text
