// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits PTX text into tokens. Dotted words (`.global`, `.shared::cta`) are one token each, so `ld.global.f32` lexes as
// an identifier followed by two directives and `%tid.x` as an identifier followed by one.

#ifndef TILEWRIGHT_PTXSIM_PARSER_LEXER_H
#define TILEWRIGHT_PTXSIM_PARSER_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::ptxsim {

struct Diagnostic {
  uint32_t line = 0;
  std::string message;
  /// "line N: message".
  std::string str() const;
};

struct Token {
  enum Kind : uint8_t { End, Identifier, Directive, Integer, Float32, Float64, String, Punctuation };
  Kind kind = End;
  char punct = 0;
  /// True for a directive or an opening parenthesis that follows its predecessor without a blank.
  bool glued = false;
  uint32_t line = 0;
  /// Integer value, or the bits of a floating-point literal.
  uint64_t value = 0;
  /// Text in the source buffer; without the leading dot for directives and without quotes for strings.
  std::string_view text;

  bool is(char c) const { return kind == Punctuation && punct == c; }
  bool isDirective(std::string_view name) const { return kind == Directive && text == name; }
};

/// Tokenises `source`, which must outlive the tokens. Returns false and fills `error` on a malformed literal or an
/// unknown character. The last token is always End.
bool lex(std::string_view source, std::vector<Token> &tokens, Diagnostic &error);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_PARSER_LEXER_H
