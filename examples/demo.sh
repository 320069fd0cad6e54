#!/bin/sh
# The command on a file: what the columns are, train, classify, forget. $1: where the model goes.
set -e
model="$1/fruit.deciban"
data=docs/fruit.csv

run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

printf '\nOn the command line ──────────────────────────────────────────────────────────────────\n'
run deciban inspect "$data"
run deciban train "$data" --target fruit -o "$model"
printf '\n$ deciban predict %s %s --evidence | head -4\n' "$model" "$data"
deciban predict "$model" "$data" --evidence --quiet -o "$1/answers.csv"
head -4 "$1/answers.csv"
head -101 "$data" > "$1/first.csv"
run deciban forget "$model" "$1/first.csv"
run deciban inspect "$model"
