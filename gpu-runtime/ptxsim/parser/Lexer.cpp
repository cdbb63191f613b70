// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokeniser declared in Lexer.h.

#include "parser/Lexer.h"

#include <cstdlib>
#include <cstring>
#include <locale.h>

namespace tilewright::ptxsim {

std::string Diagnostic::str() const { return "line " + std::to_string(line) + ": " + message; }

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isFollow(char c) { return isLetter(c) || isDigit(c) || c == '_' || c == '$'; }
int digitValue(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

class Lexer {
public:
  Lexer(std::string_view source, std::vector<Token> &tokens, Diagnostic &error)
      : source(source), tokens(tokens), error(error) {}

  bool run() {
    while (true) {
      size_t before = pos;
      if (!skipBlanks())
        return false;
      bool glued = before == pos;
      Token token;
      token.line = line;
      token.glued = glued;
      if (pos >= source.size()) {
        tokens.push_back(token);
        return true;
      }
      if (!next(token))
        return false;
      tokens.push_back(token);
    }
  }

private:
  char at(size_t index) const { return index < source.size() ? source[index] : '\0'; }

  bool fail(std::string message) {
    error = {line, std::move(message)};
    return false;
  }

  bool skipBlanks() {
    while (pos < source.size()) {
      char c = source[pos];
      if (c == '\n')
        ++line;
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        ++pos;
      } else if (c == '/' && at(pos + 1) == '/') {
        while (pos < source.size() && source[pos] != '\n')
          ++pos;
      } else if (c == '/' && at(pos + 1) == '*') {
        size_t end = source.find("*/", pos + 2);
        if (end == std::string_view::npos)
          return fail("comment without end");
        for (; pos < end + 2; ++pos)
          line += source[pos] == '\n';
      } else if (c == '\0' && pos + 1 == source.size()) {
        ++pos; // a terminating zero that the caller counted
      } else {
        break;
      }
    }
    return true;
  }

  bool next(Token &token) {
    char c = source[pos];
    size_t start = pos;
    if (isLetter(c) || c == '_' || c == '$' || c == '%') {
      ++pos;
      while (isFollow(at(pos)))
        ++pos;
      token.kind = Token::Identifier;
      token.text = source.substr(start, pos - start);
      return true;
    }
    // `.2d` is a modifier: the rank of a tensor.
    bool isRank = isDigit(at(pos + 1)) && at(pos + 2) == 'd' && pos > 0 && isFollow(source[pos - 1]);
    if (c == '.' && (isLetter(at(pos + 1)) || at(pos + 1) == '_' || isRank)) {
      start = ++pos;
      while (isFollow(at(pos)) || (at(pos) == ':' && at(pos + 1) == ':' && isFollow(at(pos + 2))))
        pos += at(pos) == ':' ? 2 : 1;
      token.kind = Token::Directive;
      token.text = source.substr(start, pos - start);
      return true;
    }
    if (isDigit(c) || (c == '.' && isDigit(at(pos + 1))))
      return number(token);
    if (c == '"')
      return string(token);
    if (std::strchr(",;:{}()[]<>+-!|=@*~&^/%?", c) && c != '\0') {
      ++pos;
      token.kind = Token::Punctuation;
      token.punct = c;
      token.text = source.substr(start, 1);
      return true;
    }
    return fail(std::string("unexpected character '") + c + "'");
  }

  bool string(Token &token) {
    size_t start = ++pos;
    while (pos < source.size() && source[pos] != '"' && source[pos] != '\n')
      pos += source[pos] == '\\' ? 2 : 1;
    if (pos >= source.size() || source[pos] != '"')
      return fail("string without end");
    token.kind = Token::String;
    token.text = source.substr(start, pos - start);
    ++pos;
    return true;
  }

  bool number(Token &token) {
    size_t start = pos;
    char second = at(pos + 1);
    token.kind = Token::Integer;
    if (at(pos) == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
      bool isFloat = second == 'f' || second == 'F';
      unsigned digits = isFloat ? 8 : 16;
      pos += 2;
      for (unsigned i = 0; i < digits; ++i, ++pos) {
        if (digitValue(at(pos)) > 15)
          return fail("hexadecimal floating-point literal needs " + std::to_string(digits) + " digits");
        token.value = token.value << 4 | digitValue(at(pos));
      }
      token.kind = isFloat ? Token::Float32 : Token::Float64;
      return finish(token, start);
    }
    unsigned base = 10;
    if (at(pos) == '0' && (second == 'x' || second == 'X' || second == 'b' || second == 'B')) {
      base = (second == 'x' || second == 'X') ? 16 : 2;
      pos += 2;
      if (digitValue(at(pos)) >= static_cast<int>(base))
        return fail("integer literal without digits");
    } else {
      size_t probe = pos;
      while (isDigit(at(probe)))
        ++probe;
      if (at(probe) == '.' || at(probe) == 'e' || at(probe) == 'E')
        return decimalFloat(token);
      if (at(pos) == '0')
        base = 8;
    }
    while (digitValue(at(pos)) < static_cast<int>(base)) {
      uint64_t digit = digitValue(at(pos));
      if (token.value > (~0ull - digit) / base)
        return fail("integer literal does not fit in 64 bits");
      token.value = token.value * base + digit;
      ++pos;
    }
    if (at(pos) == 'U' || at(pos) == 'u')
      ++pos;
    return finish(token, start);
  }

  bool decimalFloat(Token &token) {
    size_t start = pos;
    while (isDigit(at(pos)) || at(pos) == '.')
      ++pos;
    if (at(pos) == 'e' || at(pos) == 'E') {
      ++pos;
      if (at(pos) == '+' || at(pos) == '-')
        ++pos;
      while (isDigit(at(pos)))
        ++pos;
    }
    std::string text(source.substr(start, pos - start));
    // Not of the process's locale, in which the point may be a comma.
    static locale_t classic = newlocale(LC_ALL_MASK, "C", nullptr);
    double value = strtod_l(text.c_str(), nullptr, classic);
    std::memcpy(&token.value, &value, sizeof(value));
    token.kind = Token::Float64;
    return finish(token, start);
  }

  bool finish(Token &token, size_t start) {
    if (isFollow(at(pos)))
      return fail("malformed number '" + std::string(source.substr(start, pos + 1 - start)) + "'");
    token.text = source.substr(start, pos - start);
    return true;
  }

  std::string_view source;
  std::vector<Token> &tokens;
  Diagnostic &error;
  size_t pos = 0;
  uint32_t line = 1;
};

} // namespace

bool lex(std::string_view source, std::vector<Token> &tokens, Diagnostic &error) {
  tokens.clear();
  return Lexer(source, tokens, error).run();
}

} // namespace tilewright::ptxsim
