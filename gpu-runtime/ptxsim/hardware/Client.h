// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A driver library, opened by its file, with a context; and the file of answers.

#ifndef TILEWRIGHT_PTXSIM_HARDWARE_CLIENT_H
#define TILEWRIGHT_PTXSIM_HARDWARE_CLIENT_H

#include "driver/Cuda.h"

#include <cstdio>
#include <string>

namespace tilewright::ptxsim::confirm {

class Client {
public:
  /// Ends the program where the library, the device or the output cannot be had.
  Client(const std::string &library, const std::string &output);

#define PTXSIM_API_NONE(name, symbol, version, params, args) CUresult(*symbol) params = nullptr;
#include "driver/Implemented.def"

  /// Notes an answer.
  void record(const std::string &question, const std::string &expected, const std::string &got, bool agrees);
  /// A question about a return code.
  void expect(const std::string &question, CUresult expected, CUresult got);
  /// What everything else rests on.
  void must(CUresult result, const char *what);
  std::string name(CUresult result);
  /// A fresh primary context: what an error left behind is gone.
  void reset();
  /// Whether the library is the simulator's, where a missing fence fails the launch.
  bool isSimulator() const { return simulated; }
  /// Says how it went; the exit code.
  int finish();

  CUdevice device = 0;
  CUcontext context = nullptr;

private:
  FILE *file = nullptr;
  unsigned agreed = 0, disagreed = 0;
  bool simulated = false;
};

/// Return codes and effects of the driver API.
void askApi(Client &client);
/// The same about host memory that kernels access.
void askHostMemory(Client &client);
/// The same about modules, libraries and fatbins; `folder` is test/programs.
void askModules(Client &client, const std::string &folder);
/// Launches with clusters, and what their blocks do together.
void askClusters(Client &client, const std::string &folder);
/// Sparse products of warps, a shape each.
void askSparse(Client &client);
/// What encoding a tensor map refuses.
void askTensorMaps(Client &client);
/// The rules between the proxies, a kernel each.
void askLitmus(Client &client);
/// Whole programs of test/programs, read from `folder`.
void askPrograms(Client &client, const std::string &folder);

} // namespace tilewright::ptxsim::confirm

#endif // TILEWRIGHT_PTXSIM_HARDWARE_CLIENT_H
