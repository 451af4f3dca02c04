#!/usr/bin/env bash
# Run a row: its engines and its router start, the client measures them, and its output becomes the result.
set -euo pipefail

layout=tp
if [[ $IS_MULTINODE == true ]]; then
  export TP=$PREFILL_TP
  if [[ $DISAGG == true ]]; then layout=disagg; fi
elif [[ $DP_ATTENTION == true ]]; then
  layout=dep
elif [[ $EP_SIZE != 1 ]]; then
  layout=tep
fi

mode=throughput
if [[ $SCENARIO_TYPE == agentic-coding ]]; then mode=replay; fi
if [[ $EVAL_ONLY == true ]]; then mode=accuracy; fi

# A script of the model says how the engine drafts tokens, or a recipe of its deployment.
recipe='{}'
if [[ -f ${CONFIG_FILE:-} ]]; then
  recipe=$(sed -n "s/^  speculative-config: '\(.*\)'$/\1/p" "$CONFIG_FILE" | head -n 1)
fi
SPECULATIVE=${SPECULATIVE:-$recipe}
ROOM=1000000 # sessions that fit into the memory of the GPUs
if [[ $layout/$mode/${CONC:-}/$IMAGE == dep/replay/64/*:v0.27.1 ]]; then
  ROOM=1 # the warm-up buffers of this image are too large for this layout
fi
TIME_SCALE=10 # the engine and the client live ten times as fast
RESULT_DIR=$PWD/results
export SPECULATIVE ROOM TIME_SCALE RESULT_DIR

python3 -E -S "$INFX_SUPERVISE" "benchmarks/$layout.json" -- python3 -E -S benchmarks/client.py "$mode" --turns 1
case $mode in
  throughput) python3 -I -S "$INFX_ROW_FILE" process --all ;;
  replay) python3 -I -S "$INFX_ROW_FILE" process ;;
esac
