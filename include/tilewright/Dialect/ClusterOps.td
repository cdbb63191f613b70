// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TILEWRIGHT_CLUSTER_OPS_TD
#define TILEWRIGHT_CLUSTER_OPS_TD

include "tilewright/Dialect/TilewrightBase.td"
include "mlir/Dialect/Vector/IR/VectorAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Cluster_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tilewright_Dialect, mnemonic, traits>;

def Tilewright_ClusterReduceOp
    : Cluster_Op<"cluster_reduce", [SameOperandsAndResultType]> {
  let summary = "what the blocks of a cluster hold of a reduction, combined";
  let description = [{
    Each block of the cluster has reduced its part of a row; all get the same
    result, combined in the order of their ranks. All of them come here, equally
    often.

    ```mlir
    %part = vector.multi_reduction <add>, %x, %zero [0] : vector<8192xf32> to f32
    %sum = tilewright.cluster_reduce <add>, %part : f32
    ```

    In thread form each block stores its part in the memory of all others
    (`cluster_store`), a barrier of the cluster makes the parts visible, and each
    combines what it has got. Nobody reads the memory of another block, so that a
    block may end as soon as it has passed its last barrier.
  }];
  let arguments = (ins Vector_CombiningKindAttr:$kind, AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind `,` $value attr-dict `:` type($value)";
}

def Tilewright_ClusterScatterOp : Cluster_Op<"cluster_scatter"> {
  let summary = "what the blocks of a cluster hold of sums, added up, a slice for each block";
  let description = [{
    Each block of the cluster that differs along tiled loop `loop` alone has a part of the
    sums of one tile. Block r gets the r-th slice of the tile along dim `dim`, its parts
    added in the order of their blocks (reduce-scatter). All of them come here, once.

    ```mlir
    %mine = tilewright.cluster_scatter %sums along 0 loop 2 : vector<64x256xf32> -> vector<16x256xf32>
    ```

    Of tensors, which `tile` writes, the result has the sizes of `into`. In thread form each
    block stores its sums in its own shared memory, a barrier of the cluster makes them
    visible, and each reads its slice from all of them (`cluster_load`) and says so
    (`cluster_arrive`). No block may end before all others have: all threads wait at the
    kernel's end (`cluster_wait`). Those that do not come here arrive elsewhere, twice.
  }];
  let arguments = (ins AnyType:$value, Optional<AnyType>:$into, I64Attr:$dim,
                       I64Attr:$loop);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $value (`into` $into^ `:` type($into))? `along` $dim `loop` $loop attr-dict
    `:` type($value) `->` type($result)
  }];
}

def Tilewright_ClusterLoadOp : Cluster_Op<"cluster_load"> {
  let summary = "neighbouring elements of the shared memory of block `block` of the cluster";
  let description = [{
    Of the place that `memory` has there, which is that of this block, from element
    `index` on. The block must have written them, in front of a barrier of the cluster.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memory, Index:$index, Index:$block);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = [{
    $memory `[` $index `]` `block` $block attr-dict `:` type($memory) `->` type($result)
  }];
}

def Tilewright_ClusterStoreOp : Cluster_Op<"cluster_store"> {
  let summary = "one element into shared memory of block `block` of the cluster";
  let description = [{
    At the place that `memory` has there, which is that of this block. The block must
    have begun: behind a barrier of the cluster.
  }];
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$memory,
                       Index:$index, Index:$block);
  let assemblyFormat = [{
    $value `,` $memory `[` $index `]` `block` $block attr-dict
    `:` type($value) `,` type($memory)
  }];
}

def Tilewright_ClusterArriveOp : Cluster_Op<"cluster_arrive"> {
  let summary = "the first half of `cluster_barrier`: this thread is here";
  let assemblyFormat = "attr-dict";
}

def Tilewright_ClusterWaitOp : Cluster_Op<"cluster_wait"> {
  let summary = "the second half: all threads of the cluster's blocks have arrived";
  let assemblyFormat = "attr-dict";
}

#endif
