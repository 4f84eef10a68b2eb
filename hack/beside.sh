#!/usr/bin/env bash
# Runs a command with the CPU time that everything else leaves: hack/beside.sh go test ./...
# Linux shares CPU time among sessions first, so the command gets one of its own with the lowest
# weight.
set -euo pipefail
# Tests that call make are no jobs of the make that runs them.
unset MAKEFLAGS
# shellcheck disable=SC2016 # the inner shell expands "$@"
setsid bash -c 'echo 19 2>/dev/null >/proc/self/autogroup || true; exec nice -n 19 "$@"' beside "$@" &
session=$!
# Some programs of the session, such as kube-apiserver, are in process groups of their own.
trap 'pkill -TERM --session "$session" || true; wait "$session" || true; exit 130' INT TERM HUP
wait "$session"
