#!/bin/sh
# The command on a file: train, predict, evaluate, explain, forget, and a spam filter.
# $1: a folder for what is written.
set -e
root=$(pwd)
cd "$1"
rm -rf demo
mkdir demo
cd demo
cp "$root/docs/fruit.csv" .

heading() {
    printf '\n── %s ──────────────────────────────\n' "$1"
}

run() {
    printf '\n$ %s\n' "$1"
    eval "$1"
}

heading 'On the command line'
head -151 fruit.csv > known.csv
(head -1 fruit.csv; tail -50 fruit.csv) > new.csv
run 'deciban inspect known.csv'
run 'deciban train known.csv --target fruit -o fruit.deciban'
run 'deciban predict fruit.deciban new.csv --quiet | head -4'
run 'deciban evaluate fruit.deciban new.csv | head -14'
run 'head -2 new.csv | deciban explain fruit.deciban -'
run 'head -51 known.csv | deciban forget fruit.deciban -'

heading 'Mail'
mkdir ham spam
for i in $(seq 90); do
    printf 'From: ann@example.org\nSubject: Minutes of week %d\n\nAgenda: items %d, %d, %d, %d and %d of our meeting.\n' $i 1$i 2$i 3$i 4$i 5$i > ham/$i.eml
    printf 'From: win%d@prizes.example\nSubject: You WON!!\n\nClaim your free prize with %d, %d, %d, %d or %d: http://prizes.example/%d\n' $i 6$i 7$i 8$i 9$i 10$i $i > spam/$i.eml
done
printf 'From: carl@prizes.example\nSubject: free prize!!\n\nClaim $1,000 at http://prizes.example/now\n' > new.eml
run 'deciban mail train --ham ham --spam spam --store mail.db'
run 'deciban mail filter --store mail.db < new.eml'
run 'deciban mail explain --store mail.db --top 5 new.eml'

heading 'In a browser'
cat <<END

pip install 'deciban[serve]'     # once, into the same environment
$(command -v deciban || echo deciban) serve $(pwd)/fruit.deciban --open
END
