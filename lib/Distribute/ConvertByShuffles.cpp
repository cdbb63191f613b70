// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion plans that stay in a warp (Layout/Conversion.h): registers are
// renamed, chosen by the thread's digits, or shuffled.
//
// An exchange of count p moves a digit from registers to lanes and another one
// back. In round k, the thread whose sending digit is y sends its register
// (y - k) mod p, and the thread whose receiving digit is x keeps what it gets as
// register (x + k) mod p. So the registers are rotated by y before the shuffles
// and by x after them; a rotation by a number known at run time is one select
// per register and bit of the number:
//
//   p = 4, thread with y = 2      send in rounds 0..3: r2 r1 r0 r3
//   = (r0 r3 r2 r1), the rounds of y = 0, rotated right by 2

#include "ThreadCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layout;

/// (x / div) % mod.
static Value digitOf(ThreadCode &code, Location loc, Value x, int64_t div,
                     int64_t mod) {
  if (div != 1)
    x = arith::DivUIOp::create(code.b, loc, x, code.constant(loc, div));
  return arith::RemUIOp::create(code.b, loc, x, code.constant(loc, mod));
}

/// The value of `terms` for this thread.
static Index sumTerms(ThreadCode &code, Location loc,
                      const std::vector<ThreadTerm> &terms) {
  Index sum(0);
  for (const ThreadTerm &term : terms) {
    Value x = digitOf(code, loc,
                      term.level == Level::Lane ? code.lane() : code.warp(),
                      term.div, term.mod);
    sum = code.add(loc, sum,
                   code.multiply(loc, Index(x), Index(term.multiplier)));
  }
  return sum;
}

/// out[j] = in[(j - amount) mod p], for an amount below p.
static Registers rotate(ThreadCode &code, Location loc, Registers in,
                        Value amount) {
  OpBuilder &b = code.b;
  int64_t p = in.size();
  for (int64_t bit = 1; bit < p; bit *= 2) {
    Value isSet = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, loc, amount, code.constant(loc, bit)),
        code.constant(loc, 0));
    Registers out;
    for (int64_t j = 0; j < p; ++j)
      out.push_back(arith::SelectOp::create(b, loc, isSet,
                                            in[((j - bit) % p + p) % p], in[j]));
    in = std::move(out);
  }
  return in;
}

/// Calls `rotateLine` with every line of `values`, an array with one dim per
/// exchange (the first one fastest), along dim `dim`.
static void forLines(const std::vector<Exchange> &exchanges, size_t dim,
                     Registers &values,
                     llvm::function_ref<Registers(Registers)> rotateLine) {
  int64_t stride = 1;
  for (size_t i = 0; i < dim; ++i)
    stride *= exchanges[i].count;
  int64_t p = exchanges[dim].count;
  for (int64_t start = 0, e = values.size(); start < e; ++start) {
    if (start / stride % p)
      continue;
    Registers line;
    for (int64_t j = 0; j < p; ++j)
      line.push_back(values[start + j * stride]);
    line = rotateLine(line);
    for (int64_t j = 0; j < p; ++j)
      values[start + j * stride] = line[j];
  }
}

namespace {
/// One conversion being written.
class InWarp {
public:
  InWarp(ThreadCode &code, Location loc, const ConversionPlan &plan,
         const Registers &source)
      : code(code), loc(loc), plan(plan), source(source) {
    for (const Exchange &e : plan.exchanges) {
      sending.push_back(
          digitOf(code, loc, code.lane(), e.senderLaneWeight, e.count));
      receiving.push_back(
          digitOf(code, loc, code.lane(), e.receiverLaneWeight, e.count));
    }
  }

  Registers run() {
    Registers result(plan.registerBase.size());
    for (size_t reg = 0; reg < result.size(); ++reg)
      if (isFirst(reg))
        exchange(reg, result);
    return result;
  }

private:
  /// True for the first register of those that are exchanged together.
  bool isFirst(int64_t reg) const {
    return llvm::all_of(plan.exchanges, [&](const Exchange &e) {
      return reg / e.receiverRegisterWeight % e.count == 0;
    });
  }

  /// The value of a choice: one out of several, by digits of the thread.
  Value choose(const RegisterChoice &choice,
               llvm::function_ref<Value(int64_t)> valueOf) {
    Value chosen = valueOf(choice.offsets.front());
    if (choice.offsets.size() == 1)
      return chosen;
    Value number = code.materialize(loc, sumTerms(code, loc, choice.terms));
    for (size_t c = 1; c < choice.offsets.size(); ++c) {
      Value isChoice =
          arith::CmpIOp::create(code.b, loc, arith::CmpIPredicate::eq, number,
                                code.constant(loc, c));
      chosen = arith::SelectOp::create(code.b, loc, isChoice,
                                       valueOf(choice.offsets[c]), chosen);
    }
    return chosen;
  }

  /// Digits of round (or register) number `number`, one per exchange.
  SmallVector<int64_t> digits(int64_t number) const {
    SmallVector<int64_t> result;
    for (const Exchange &e : plan.exchanges) {
      result.push_back(number % e.count);
      number /= e.count;
    }
    return result;
  }

  void exchange(int64_t reg, Registers &result) {
    int64_t rounds = plan.numRounds();
    Registers received(rounds);
    bool shuffles = plan.kind == ConversionKind::LaneShuffle;
    // What is sent in each round, per remote choice.
    auto sent = [&](int64_t remote) {
      Registers values;
      for (int64_t k = 0; k < rounds; ++k) {
        int64_t from = plan.registerBase[reg] + remote;
        for (auto [e, digit] : llvm::zip_equal(plan.exchanges, digits(k)))
          from += (e.count - digit) % e.count * e.senderRegisterWeight;
        values.push_back(choose(plan.local, [&](int64_t local) {
          return source[from + local];
        }));
      }
      for (size_t dim = 0; dim < plan.exchanges.size(); ++dim)
        forLines(plan.exchanges, dim, values, [&](Registers line) {
          return rotate(code, loc, line, sending[dim]);
        });
      return values;
    };
    llvm::SmallDenseMap<int64_t, Registers> perRemote;
    for (int64_t remote : plan.remote.offsets)
      if (!perRemote.count(remote))
        perRemote[remote] = sent(remote);
    for (int64_t k = 0; k < rounds; ++k) {
      Value lane = shuffles ? senderLane(reg, digits(k)) : Value();
      received[k] = choose(plan.remote, [&](int64_t remote) {
        Value value = perRemote.lookup(remote)[k];
        return shuffles
                   ? code.shuffle(loc, value, lane, gpu::ShuffleMode::IDX)
                   : value;
      });
    }
    for (size_t dim = 0; dim < plan.exchanges.size(); ++dim)
      forLines(plan.exchanges, dim, received, [&](Registers line) {
        return rotate(code, loc, line, receiving[dim]);
      });
    for (int64_t k = 0; k < rounds; ++k) {
      int64_t into = reg;
      for (auto [e, digit] : llvm::zip_equal(plan.exchanges, digits(k)))
        into += digit * e.receiverRegisterWeight;
      result[into] = received[k];
    }
  }

  /// The lane to read from in the round of these digits, as i32.
  Value senderLane(int64_t reg, ArrayRef<int64_t> round) {
    Index lane = code.add(loc, Index(plan.laneBase[reg]),
                          sumTerms(code, loc, plan.laneTerms));
    for (auto [e, digit, x] :
         llvm::zip_equal(plan.exchanges, round, receiving)) {
      Value ahead = x;
      if (digit)
        ahead = digitOf(code, loc,
                        code.materialize(loc, code.add(loc, Index(Value(x)),
                                                       Index(digit))),
                        1, e.count);
      lane = code.add(loc, lane,
                      code.multiply(loc, Index(ahead),
                                    Index(e.senderLaneWeight)));
    }
    return arith::IndexCastOp::create(code.b, loc, code.b.getI32Type(),
                                      code.materialize(loc, lane));
  }

  ThreadCode &code;
  Location loc;
  const ConversionPlan &plan;
  const Registers &source;
  /// The thread's digits y and x of each exchange.
  SmallVector<Value> sending, receiving;
};
} // namespace

Registers ThreadCode::convertInWarp(Location loc, const ConversionPlan &plan,
                                    const Registers &source) {
  return InWarp(*this, loc, plan, source).run();
}
