# The commands of this repository; `just` lists them. All of them work without just: see the scripts.

[private]
default:
    @just --list --unsorted

# ------------------------------------------------------------------ use

# a report on a trace of llama.cpp that is here, or on yours
[group('use')]
try *ARGUMENTS:
    ./try {{ARGUMENTS}}

# ---------------------------------------------------------------- check

# everything that must hold for every commit
[group('check')]
test:
    ./test

# the long proofs too: more property cases, fuzzing, the bench
[group('check')]
test-long:
    ./test --long

# one crate, fast: just one cli
[group('check')]
one CRATE *ARGUMENTS:
    cargo clippy --quiet -p {{CRATE}} --all-targets -- -D warnings
    cargo nextest run -p {{CRATE}} {{ARGUMENTS}}

# accept what the tools print now as the expected text; read the diff before you commit
[group('check')]
bless:
    SNAPSHOTS=overwrite cargo test -p rtl-summary

# fuzz every target for so many seconds
[group('check')]
fuzz SECONDS="600":
    scripts/fuzz {{SECONDS}}

# -------------------------------------------------------------- measure

# asked and measured, as a Markdown table
[group('measure')]
bench *ARGUMENTS:
    scripts/bench {{ARGUMENTS}}

# a synthetic trace of any size: just generate --ops 1000000 out.db
[group('measure')]
generate *ARGUMENTS:
    cargo run --release --quiet -p support --bin generate -- {{ARGUMENTS}}

# ----------------------------------------------------------------- read

# the documentation of every crate, private items included
[group('read')]
doc:
    cargo doc --workspace --no-deps --document-private-items --open
