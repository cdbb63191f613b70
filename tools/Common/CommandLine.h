// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the command lines of all tools have in common: CLI11 with values that are
// empty, numbers in words, and standard files that are closed or full.
#ifndef TILEWRIGHT_TOOLS_COMMON_COMMANDLINE_H
#define TILEWRIGHT_TOOLS_COMMON_COMMANDLINE_H

#include "CLI/CLI.hpp"

#include <fcntl.h>
#include <iostream>
#include <string>
#include <unistd.h>

namespace tilewright::tools {

/// Opens what is closed of standard input, output and error, so that no other file gets
/// its number, and what is printed ends up in that. To be called before anything is
/// opened. To read or to print there stays an error; messages on standard error are lost.
inline void openStandardFiles() {
  for (int file = 0; file < 3; ++file)
    if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == 1 ? O_RDONLY : O_WRONLY) != file)
      _exit(1);
}

/// Of "--name=" CLI11 takes the next argument for the value: that is an error here.
inline void parse(CLI::App &app, int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "--")
      break;
    if (argument.compare(0, 2, "--") != 0 || argument.find('=') + 1 != argument.size())
      continue;
    argument.pop_back();
    if (app.get_option_no_throw(argument))
      throw CLI::ValidationError(argument, "its value is empty");
  }
  app.parse(argc, argv);
}

/// Prints what CLI11 ends with: help, a version, or what is wrong. The exit code.
inline int finish(const CLI::App &app, const CLI::ParseError &error) {
  int code = app.exit(error);
  std::cout.flush();
  if (std::cout)
    return code == 0 ? 0 : 1;
  std::cerr << app.get_name() << ": error: cannot write to standard output\n";
  return 1;
}

/// A number, which NaN is not, in words that say what is expected.
inline CLI::Validator numberFrom(double least, bool isIncluded, const std::string &expected) {
  return CLI::Validator(
      [=](std::string &text) -> std::string {
        double number = 0;
        bool good = CLI::detail::lexical_cast(text, number) &&
                    (isIncluded ? number >= least : number > least);
        return good ? "" : "'" + text + "': expected " + expected;
      },
      "");
}

} // namespace tilewright::tools

#endif // TILEWRIGHT_TOOLS_COMMON_COMMANDLINE_H
