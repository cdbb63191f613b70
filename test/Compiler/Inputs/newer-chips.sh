# newer-chips.sh ARTIFACT: each function on integers and on floats, against the oracle.
set -e
export PTXSIM_ARCH=sm_90 PTXSIM_MULTIPROCESSORS=4
run() {
  tilewright-run "$1" --device=ptxsim --check=oracle --function="$2" --input="$3=$6" --input="$4=$6" --input="$5" | sed 's/^result.0.: //'
}
for fill in int:-2:2 random; do run "$1" by_default 200x136xf16 136x264xf16 200x264xf32=int:-9:9 $fill; done
for fill in int:-2:2 random; do run "$1" ring 328x264xf16 264x136xf16 328x136xf32=int:-9:9 $fill; done
