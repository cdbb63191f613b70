# same-bits.sh FUNCTION FOLDER: runs it of FOLDER/split.tw in several orders; the results' bits must be the same.
set -e
export PTXSIM_ARCH=sm_90 PTXSIM_QUEUE=seeded
run() {
  PTXSIM_SEED=$1 tilewright-run "$2/split.tw" --device=ptxsim --function="$3" --input=72x1608xbf16=random:1 \
    --input=1608x40xbf16=random:2 --output="@$2/$4.npy"
}
run 1 "$2" "$1" "$1"
for order in 1 2 3 20; do
  run $order "$2" "$1" "$1.again"
  cmp "$2/$1.npy" "$2/$1.again.npy"
done
