// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one error type of the runtime: a code for programs, a message for people.
//
// A message names what went wrong, where, and what would be accepted, in lower
// case and without a full stop, like a compiler diagnostic. Nothing in the
// runtime throws across a function of this directory's interfaces, and nothing
// aborts: every fallible function returns a Status and writes its result to the
// last parameter, which is untouched when the Status is an error.
#ifndef TILEWRIGHT_CORE_STATUS_H
#define TILEWRIGHT_CORE_STATUS_H

#include <new>
#include <string>
#include <utility>

namespace tilewright::runtime {

/// The numbers are part of the C API (tilewright_status_code).
enum class StatusCode : int {
  Ok = 0,
  InvalidArgument = 1,  // the caller passed something unusable
  NotFound = 2,         // no such device, function, section, file
  Unavailable = 3,      // a driver or device that this machine lacks
  Unsupported = 4,      // this device or build cannot do it
  OutOfMemory = 5,      // host or device memory
  CorruptArtifact = 6,  // bytes that are not a valid artifact
  DeadlineExceeded = 7, // a wait ended by its deadline
  DeviceLost = 8,       // the device failed; every later call says so
  ProgramError = 9,     // a check of the program failed at run time
  Internal = 10,        // a driver answered something unexpected
  GuardFalse = 11,      // a kernel that is for other devices than this one
};

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : statusCode(code), text(std::move(message)) {}

  static Status ok() { return Status(); }

  bool isOk() const { return statusCode == StatusCode::Ok; }
  /// True for an error, so that `if (Status s = f()) return s;` reads as "if
  /// it failed, pass it on".
  explicit operator bool() const { return !isOk(); }

  StatusCode code() const { return statusCode; }
  const std::string &message() const { return text; }

  /// The same error with "where: " in front of its message.
  Status in(const std::string &where) && {
    if (!isOk())
      text = where + ": " + text;
    return std::move(*this);
  }

private:
  StatusCode statusCode = StatusCode::Ok;
  std::string text;
};

inline Status invalidArgument(std::string message) {
  return Status(StatusCode::InvalidArgument, std::move(message));
}
inline Status notFound(std::string message) {
  return Status(StatusCode::NotFound, std::move(message));
}
inline Status unavailable(std::string message) {
  return Status(StatusCode::Unavailable, std::move(message));
}
inline Status unsupported(std::string message) {
  return Status(StatusCode::Unsupported, std::move(message));
}
inline Status outOfMemory(std::string message) {
  return Status(StatusCode::OutOfMemory, std::move(message));
}
inline Status corruptArtifact(std::string message) {
  return Status(StatusCode::CorruptArtifact, std::move(message));
}
inline Status deadlineExceeded(std::string message) {
  return Status(StatusCode::DeadlineExceeded, std::move(message));
}
inline Status deviceLost(std::string message) {
  return Status(StatusCode::DeviceLost, std::move(message));
}
inline Status programError(std::string message) {
  return Status(StatusCode::ProgramError, std::move(message));
}
inline Status guardFalse(std::string message) {
  return Status(StatusCode::GuardFalse, std::move(message));
}
inline Status internalError(std::string message) {
  return Status(StatusCode::Internal, std::move(message));
}

/// For destructors: does what may fail. Nobody is left to hear of an error, nor
/// that there was no memory for its words.
template <typename Body> void ignoringErrors(Body body) noexcept {
  try {
    (void)body();
  } catch (const std::bad_alloc &) {
  }
}

/// A wait ended by its deadline: gives the device up. `words` say what did not
/// happen in time; where there is no memory for them it is lost all the same.
template <typename Device, typename Words>
Status loseByDeadline(Device &device, Words words) {
  std::string reason;
  try {
    reason = words();
  } catch (const std::bad_alloc &) {
    device.lose(reason);
    throw;
  }
  device.lose(reason);
  return deadlineExceeded(reason + "; the device is lost");
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_STATUS_H
