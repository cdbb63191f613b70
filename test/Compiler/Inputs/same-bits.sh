# same-bits.sh FUNCTION FOLDER [INPUT INPUT]: runs it of FOLDER/split.tw in several orders; the results' bits must be the same.
set -e
export PTXSIM_ARCH=sm_90 PTXSIM_QUEUE=seeded
run() {
  PTXSIM_SEED=$1 tilewright-run "$2/split.tw" --device=ptxsim --function="$3" --input="$5=random:1" --input="$6=random:2" \
    --output="@$2/$4.npy"
}
set -- "$1" "$2" "${3:-72x1608xbf16}" "${4:-1608x40xbf16}"
run 1 "$2" "$1" "$1" "$3" "$4"
for order in 1 2 3 20; do
  run $order "$2" "$1" "$1.again" "$3" "$4"
  cmp "$2/$1.npy" "$2/$1.again.npy"
done
