# shellcheck shell=bash
# Functions of ops/up, ops/down, ops/test, ops/bench, ops/prepare, ops/package, ops/released and .ci/run: messages, packages, Rust,
# a private PostgreSQL.
#
# Sourced, after `set -euo pipefail`. ROOT is the repository or an unpacked release; every function that fails says what to do.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# The oldest compiler that builds the project; keep in step with rust-version in Cargo.toml.
RUST_VERSION=1.95

# ---- messages ------------------------------------------------------------------------------------------------

# A step that takes a while, so that nobody looks at a silent terminal.
step() { printf '\n==> %s\n' "$*" >&2; }

note() { printf '    %s\n' "$*" >&2; }

# The end, with one sentence that says what failed and what to do.
fail() {
    printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

# The last lines of a log file, for a message about a failed step; probes of readiness say nothing about it.
show_tail() {
    [ -s "$1" ] || return 0
    printf -- '---- the end of %s\n' "$1" >&2
    { grep -avF 'GET /readyz' "$1" || true; } | tail -n "${2:-25}" >&2
    printf -- '----\n' >&2
}

# ---- the machine ---------------------------------------------------------------------------------------------

is_root() { [ "$(id -u)" -eq 0 ]; }

is_debian() {
    [ -r /etc/os-release ] && command -v apt-get > /dev/null || return 1
    # shellcheck source=/dev/null
    (. /etc/os-release && case " ${ID:-} ${ID_LIKE:-} " in *" debian "* | *" ubuntu "*) true ;; *) false ;; esac)
}

as_root() {
    if is_root; then "$@"; else sudo "$@"; fi
}

# Succeeds for root, and where sudo needs no password or has a terminal to ask for it.
may_install() {
    is_root || { command -v sudo > /dev/null && { [ -t 0 ] || sudo -n true 2> /dev/null; }; }
}

# Makes sure that commands are there: `need_commands COMMAND:PACKAGE…` (Debian's package names).
need_commands() {
    local pair command packages=() commands=()
    for pair in "$@"; do
        command=${pair%%:*}
        if [ "$command" = postgres ]; then
            postgres_bin > /dev/null 2>&1 && continue
        elif [ "$command" = runuser ] && ! is_root; then
            # Root's alone, and often not on the PATH of others.
            continue
        elif command -v "$command" > /dev/null; then
            continue
        fi
        commands+=("$command")
        packages+=("${pair#*:}")
    done
    [ ${#packages[@]} -gt 0 ] || return 0
    if ! is_debian; then
        fail "this needs ${commands[*]}, and this system is neither Debian nor Ubuntu: install what is missing by its own means" \
            "(of PostgreSQL version 14 or newer), then again"
    fi
    install_packages "${packages[@]}"
}

install_packages() {
    may_install ||
        fail "$* must be installed, and this user is not root and has no sudo: run 'apt-get install $*' as root, then again"
    step "Installing $* with apt-get"
    # The package would start a server of its own on port 5432; the project brings up a private one.
    local cluster_config=/etc/postgresql-common/createcluster.conf made_config=no
    if [[ " $* " == *" postgresql "* ]] && ! [ -e "$cluster_config" ]; then
        as_root mkdir -p /etc/postgresql-common
        printf 'create_main_cluster = false\n' | as_root tee "$cluster_config" > /dev/null
        made_config=yes
    fi
    as_root apt-get update -qq ||
        fail "apt-get update failed (its words are above): check the network and /etc/apt/sources.list, then again"
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@" > /dev/null ||
        fail "apt-get could not install $* (its words are above)"
    if [ "$made_config" = yes ] && [ "$(cat "$cluster_config")" = 'create_main_cluster = false' ]; then
        as_root rm -f "$cluster_config"
    fi
}

# Puts a Rust toolchain that is new enough on the PATH.
need_rust() {
    command -v cargo > /dev/null || PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    export PATH
    rust_is_new_enough && return 0
    if ! command -v rustup > /dev/null && is_debian; then
        if apt-cache show rustup > /dev/null 2>&1; then
            install_packages rustup
        else
            need_commands curl:curl
            step "Installing Rust $RUST_VERSION with rustup from https://rustup.rs, for this user only"
            curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs |
                RUSTUP_INIT_SKIP_PATH_CHECK=yes sh -s -- -y -q --no-modify-path --profile minimal \
                    --default-toolchain "$RUST_VERSION" -c clippy -c rustfmt ||
                fail "rustup could not be installed: install Rust $RUST_VERSION or newer yourself, then again"
            PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
        fi
    fi
    rust_is_new_enough && return 0
    command -v rustup > /dev/null ||
        fail "Rust $RUST_VERSION or newer is needed, found: $(rustc --version 2>&1 || true). See https://rustup.rs"
    step "Installing Rust $RUST_VERSION with rustup"
    rustup toolchain install "$RUST_VERSION" --profile minimal -c clippy -c rustfmt ||
        fail "rustup could not install Rust $RUST_VERSION (its words are above)"
    export RUSTUP_TOOLCHAIN=$RUST_VERSION
    rust_is_new_enough || fail "Rust $RUST_VERSION is installed, but rustc still says: $(rustc --version 2>&1)"
}

rust_is_new_enough() {
    local version
    version=$(rustc --version 2> /dev/null | cut -d' ' -f2) || return 1
    [ -n "$version" ] && is_at_least "$version" "$RUST_VERSION"
}

# Succeeds if a version is not older than another: version, other version.
is_at_least() { printf '%s\n%s\n' "$2" "$1" | sort -VC; }

# The folder of the programs: a release's own, or where cargo puts what it builds in release mode.
binaries() {
    if is_release; then printf '%s/bin\n' "$ROOT" && return; fi
    local target=${CARGO_TARGET_DIR:-target}
    case $target in /*) ;; *) target=$ROOT/$target ;; esac
    printf '%s/release\n' "$target"
}

# ---- a release -----------------------------------------------------------------------------------------------

# Succeeds in an unpacked release (ops/package), fails in a checkout.
is_release() { [ -e "$ROOT/RELEASE" ]; }

# A fact of the file RELEASE: its name.
release_says() { sed -n "s/^$1=//p" "$ROOT/RELEASE"; }

# The version of this release or checkout.
version() {
    if is_release; then release_says version && return; fi
    sed -nE '/^\[workspace\.package\]/,/^$/ s/^version = "(.*)"$/\1/p' "$ROOT/Cargo.toml"
}

# The command that a user starts from ROOT: up or down.
command_of() { if is_release; then printf './%s\n' "$1"; else printf './ops/%s\n' "$1"; fi; }

# The data folder where none is named. That of a release lies outside of ROOT, since an upgrade unpacks another one.
default_data() {
    is_release || { printf '%s/.retort\n' "$ROOT" && return; }
    [ -n "${XDG_DATA_HOME:-${HOME:-}}" ] || fail "neither HOME nor XDG_DATA_HOME is set: name a data folder with --data"
    printf '%s/retort\n' "${XDG_DATA_HOME:-$HOME/.local/share}"
}

# Refuses a machine on which this release cannot run, and a release that was not unpacked to its end.
check_release() {
    is_release || return 0
    local needed found lacking checkout='build Retort from a checkout, with ./ops/up'
    needed=$(release_says architecture) found=$(uname -m)
    [ "$found" = "$needed" ] || fail "this release is for $needed and this machine is $found: $checkout"
    needed=$(release_says glibc) found=$(getconf GNU_LIBC_VERSION 2> /dev/null | cut -d' ' -f2) || found=none
    if [ "$found" = none ] || ! is_at_least "$found" "$needed"; then
        fail "this release needs glibc $needed or newer and this system has $found: use a newer system, or $checkout"
    fi
    # The sizes, which take no time; checksums are for a doubt.
    lacking=$(comm -23 <(release_says file | sed -E 's/^([0-9]+) [0-9a-f]+ /\1 /' | sort) \
        <(cd "$ROOT" && release_says file | cut -d' ' -f3- | xargs -d '\n' stat -c '%s %n' 2> /dev/null | sort))
    [ -z "$lacking" ] ||
        fail "$ROOT is not unpacked completely ($(wc -l <<< "$lacking") of its files, first $(head -n1 <<< "${lacking#* }")):" \
            "unpack the archive again, after sha256sum -c"
}

# Refuses a data folder that a newer version used last: folder, yes for a roll-back.
check_data_version() {
    local last
    last=$(cat "$1/version" 2> /dev/null) || return 0
    [ "$2" = yes ] || is_at_least "$(version)" "$last" ||
        fail "$1 was last used by version $last and this is $(version): start version $last, or this one with --roll-back"
}

port_is_free() { ! (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

# A free loopback port under the range that outgoing connections use.
free_port() {
    local port
    for _ in $(seq 100); do
        port=$((20000 + RANDOM % 12000))
        port_is_free "$port" && printf '%s\n' "$port" && return 0
    done
    fail "found no free loopback port between 20000 and 32000"
}

random_word() { od -An -N20 -tx1 /dev/urandom | tr -d ' \n'; }

# ---- processes -----------------------------------------------------------------------------------------------

# Whether a process lives. A dead one that nobody has collected is not alive, whatever kill says; containers whose
# first process collects nothing keep such.
is_alive() {
    local state
    state=$(ps -o stat= -p "$1" 2> /dev/null) && [[ -n $state && $state != Z* ]]
}

# A pid and its start time: a recycled pid is not taken for the process that had it.
process_identity() {
    local started
    started=$(ps -o lstart= -p "$1" 2> /dev/null) && printf '%s %s\n' "$1" "$started"
}

# The pid in a file made of process_identity, if that very process lives.
live_pid() {
    local recorded pid
    recorded=$(cat "$1" 2> /dev/null) || return 1
    pid=${recorded%% *}
    is_alive "$pid" && [ "$(process_identity "$pid" || true)" = "$recorded" ] && printf '%s\n' "$pid"
}

# The processes that a runner left behind when it was killed: all that ops/keep started in its session. (A
# session's number is not given away again while one of its processes lives.)
left_behind() {
    local recorded
    recorded=$(cat "$1" 2> /dev/null) || return 0
    ps -o pid=,args= -s "${recorded%% *}" 2> /dev/null | sed -nE 's#^ *([0-9]+) .*(ops/keep|retort-(api|worker)).*#\1#p' || true
}

# A runner that was killed could not end its processes.
end_left_behind() {
    local pids
    pids=$(left_behind "$1")
    [ -n "$pids" ] || return 0
    note "ending the processes of a start that was killed"
    # shellcheck disable=SC2086 # several numbers
    kill -TERM $pids 2> /dev/null || true
    local pid
    for pid in $pids; do wait_gone "$pid" 10 || kill -KILL "$pid" 2> /dev/null || true; done
}

# Ends a runner's processes in an order in which nobody waits for what is gone: its pid, the most seconds that it may take.
#
# The API alone is told: it answers what it has accepted, which takes workers. The runner sees it end and tells the others.
stop_processes() {
    local runner=$1 seconds=$2 api
    api=$(ps -o pid=,args= --ppid "$runner" | sed -nE 's#^ *([0-9]+) .*ops/keep retort-api serve.*#\1#p')
    # shellcheck disable=SC2086 # several numbers, or none
    kill -TERM ${api:-$runner} 2> /dev/null || true
    wait_gone "$runner" "$seconds"
}

# Waits until a process is gone: pid, seconds.
wait_gone() {
    for _ in $(seq $(($2 * 5))); do
        is_alive "$1" || return 0
        sleep 0.2
    done
    return 1
}

# ---- a private PostgreSQL ------------------------------------------------------------------------------------

# The folder with initdb and pg_ctl: of the version given, else of the newest that is installed.
postgres_bin() {
    local wanted=${1:-} folder newest=''
    # Debian's, Red Hat's, SUSE's.
    for folder in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/lib/postgresql[0-9]*/bin; do
        [ -x "$folder/initdb" ] || continue
        if [ -n "$wanted" ]; then
            [[ $folder == */"$wanted"/bin || $folder == *-"$wanted"/bin || $folder == *postgresql"$wanted"/bin ]] && printf '%s\n' "$folder" && return 0
        else
            newest=$(printf '%s\n%s\n' "$newest" "$folder" | sort -V | tail -n1)
        fi
    done
    if [ -z "$newest" ] && command -v initdb > /dev/null && command -v pg_ctl > /dev/null; then
        newest=$(dirname "$(command -v initdb)")
    fi
    [ -n "$newest" ] && printf '%s\n' "$newest"
}

# PostgreSQL refuses to run as root: then it runs as the user that the package made.
as_postgres() {
    if is_root; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

# Makes the folder that a cluster lives in, where its user can reach it.
#
# A data folder under /root cannot be reached by another user; then the cluster goes to /var/lib/retort and
# the data folder holds a link to it, which root follows (postgres_real): that user could not even read the link.
postgres_folder() {
    local folder=$1
    if is_root; then
        id postgres > /dev/null 2>&1 ||
            fail "PostgreSQL does not run as root and there is no user postgres to run it: make one (useradd -r postgres)"
        if ! [ -e "$folder" ] && ! as_postgres test -x "$(dirname "$folder")"; then
            local elsewhere
            elsewhere=/var/lib/retort/$(printf '%s' "$folder" | md5sum | cut -c1-12)
            note "the user postgres cannot enter $(dirname "$folder"); the database goes to $elsewhere"
            install -d -m 755 /var/lib/retort
            install -d -m 700 -o postgres "$elsewhere"
            ln -sfn "$elsewhere" "$folder"
        fi
        [ -d "$folder/" ] || install -d -m 700 -o postgres "$folder"
    else
        [ -d "$folder/" ] || install -d -m 700 "$folder"
    fi
}

# Where a cluster really is, the way there without links.
postgres_real() { (cd "$1" && pwd -P); }

# Makes a cluster: folder, superuser, password ('' trusts every local user: tests only), fsync (on or off).
postgres_make() {
    local folder user=$2 password=$3 fsync=$4 bin secret method=trust
    folder=$(postgres_real "$1")
    bin=$(postgres_bin) || fail "PostgreSQL is not installed"
    local arguments=(-D "$folder" -U "$user" -E UTF8 --locale=C --no-instructions)
    if [ -n "$password" ]; then
        method=scram-sha-256
        secret=$(mktemp)
        printf '%s\n' "$password" > "$secret"
        if is_root; then chown postgres "$secret"; fi
        arguments+=(--pwfile "$secret")
    fi
    [ "$fsync" = on ] || arguments+=(--no-sync)
    local log made=yes
    log=$(mktemp)
    as_postgres "$bin/initdb" "${arguments[@]}" --auth "$method" > "$log" 2>&1 || made=no
    rm -f "${secret:-}"
    if [ "$made" = no ]; then
        show_tail "$log"
        fail "initdb could not make a database cluster in $folder (its words are above); --data names another folder"
    fi
    rm -f "$log"
    # Appended last, so it wins. The socket stays inside the cluster's folder unless its path is too long for one.
    local socket=$folder
    [ ${#socket} -le 85 ] || socket=''
    as_postgres tee -a "$folder/postgresql.conf" > /dev/null << CONFIGURATION

# ---- Retort ----
listen_addresses = '127.0.0.1'
unix_socket_directories = '$socket'
max_connections = 200
shared_buffers = '256MB'
autovacuum_naptime = '15s'
fsync = $fsync
log_line_prefix = '%m [%p] '
CONFIGURATION
}

postgres_is_running() {
    local bin pid
    pid=$(head -n1 "$1/postmaster.pid" 2> /dev/null) && is_alive "$pid" || return 1
    bin=$(postgres_bin "$(cat "$1/PG_VERSION")") && as_postgres "$bin/pg_ctl" -D "$(postgres_real "$1")" status > /dev/null 2>&1
}

# The programs of a cluster's own version: folder.
postgres_bin_of() {
    local version
    version=$(cat "$1/PG_VERSION")
    postgres_bin "$version" ||
        fail "the database in $1 is of PostgreSQL $version, which is not installed: install postgresql-$version"
}

# PostgreSQL takes a dead server that nobody has collected for a live one: folder.
postgres_forget_dead() {
    local pid
    if pid=$(head -n1 "$1/postmaster.pid" 2> /dev/null) && ! is_alive "$pid"; then
        rm -f "$1/postmaster.pid" "$1"/.s.PGSQL.*.lock
    fi
}

# Starts a cluster on a port: folder, port. What a killed server left behind is PostgreSQL's to clear up; the
# last processes of one may hold its memory for a moment, so it is tried for a while.
postgres_start() {
    local folder port=$2 bin log
    folder=$(postgres_real "$1")
    bin=$(postgres_bin_of "$folder")
    log=$folder/server.log
    postgres_forget_dead "$folder"
    for _ in 1 2 3 4 5; do
        if as_postgres "$bin/pg_ctl" -D "$folder" -l "$log" -w -t 120 -o "-p $port" start > /dev/null 2>&1; then
            return 0
        fi
        sleep 2
    done
    as_postgres tail -n 25 "$log" >&2 || true
    fail "PostgreSQL did not start in $folder (the end of its log is above)"
}

# Starts a cluster that is started again whenever it dies: folder, port, the file for its keeper's identity. Its words and
# the keeper's go to the cluster's server.log. The keeper has a session of its own, so that no Ctrl-C reaches it.
postgres_keep() {
    local folder port=$2 file=$3 bin keeper
    folder=$(postgres_real "$1")
    bin=$(postgres_bin_of "$folder")
    as_postgres touch "$folder/server.log"
    setsid "$ROOT/ops/keep" --stop-signal INT "$ROOT/ops/postgres" "$folder" "$port" >> "$folder/server.log" 2>&1 < /dev/null &
    keeper=$!
    process_identity "$keeper" > "$file"
    # What a crash left is read again first, which may take a while.
    for _ in $(seq 600); do
        "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" && return 0
        is_alive "$keeper" || break
        sleep 0.2
    done
    as_postgres tail -n 25 "$folder/server.log" >&2 || true
    fail "PostgreSQL did not start in $folder (the end of its log is above)"
}

# Ends a cluster that postgres_keep started, or what one that was killed left behind: folder, the keeper's file.
postgres_stop_kept() {
    local keeper
    if keeper=$(live_pid "$2"); then
        kill -TERM "$keeper" 2> /dev/null || true
        wait_gone "$keeper" 60 || kill -KILL "$keeper" 2> /dev/null || true
    fi
    rm -f "$2"
    ! postgres_is_running "$1" || postgres_stop "$1"
}

# Makes a database if it is not there: cluster's folder, URL of the database.
postgres_database() {
    local bin
    bin=$(postgres_bin "$(cat "$1/PG_VERSION")")
    [[ $2 =~ ^postgres://([^:]+):([^@]+)@([^:]+):([0-9]+)/(.+)$ ]] || return 1
    local connection=(-h "${BASH_REMATCH[3]}" -p "${BASH_REMATCH[4]}" -U "${BASH_REMATCH[1]}")
    local database=${BASH_REMATCH[5]} known
    # In the environment, where other users of the machine do not see it.
    local -x PGPASSWORD=${BASH_REMATCH[2]}
    known=$("$bin/psql" "${connection[@]}" -d postgres -tAc "select datname from pg_database") || return 1
    grep -qxF "$database" <<< "$known" || "$bin/createdb" "${connection[@]}" "$database"
}

# Whether the database of a URL answers; its words are shown where it does not. The password goes by the environment,
# where other users of the machine do not see it.
postgres_answers() {
    local bin url=$1
    bin=$(postgres_bin)
    local -x PGCONNECT_TIMEOUT=10 PGPASSWORD=${PGPASSWORD:-}
    if [[ $url =~ ^(postgres(ql)?://[^:@/]*):([^@/]*)@(.*)$ ]]; then
        printf -v PGPASSWORD '%b' "${BASH_REMATCH[3]//%/\\x}"
        url=${BASH_REMATCH[1]}@${BASH_REMATCH[4]}
    fi
    "$bin/psql" -d "$url" -tAc 'select 1' > /dev/null
}

# The kB of memory that are free, those of a container where it has a limit.
memory_free() {
    local free limit used
    free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
    limit=$(cat /sys/fs/cgroup/memory.max 2> /dev/null) || limit=max
    if [ "$limit" != max ] && used=$(cat /sys/fs/cgroup/memory.current 2> /dev/null) && [ $(((limit - used) / 1024)) -lt "$free" ]; then
        free=$(((limit - used) / 1024))
    fi
    printf '%s\n' "$free"
}

# Makes a folder for what is thrown away, and prints it: in memory where 8 GB of that are free, since a database is hundreds of
# files and a disk lets tests wait for each (131 tests with one each: 44 s, 70 s on a disk).
throw_away_folder() {
    local room
    room=$(df --output=avail -k /dev/shm 2> /dev/null | tail -n 1)
    if [ "${room:-0}" -ge 2000000 ] && [ "$(memory_free)" -ge 8000000 ] && mktemp -d -p /dev/shm 2> /dev/null; then return; fi
    mktemp -d
}

# A cluster for tests, which trusts every local user and does not wait for the disk: folder. Prints the URL of its superuser.
postgres_throw_away() {
    local folder=$1 port
    # Its user must reach it within a folder of mktemp.
    chmod 711 "$(dirname "$folder")"
    port=$(free_port)
    postgres_folder "$folder"
    postgres_make "$folder" postgres '' off
    # Twice as many tests at once as cores, each with a service or two.
    as_postgres tee -a "$folder/postgresql.conf" > /dev/null <<< "max_connections = $((200 + 50 * $(nproc)))"
    postgres_start "$folder" "$port"
    printf 'postgres://postgres@127.0.0.1:%s/postgres\n' "$port"
}

postgres_stop() {
    local folder bin
    folder=$(postgres_real "$1")
    bin=$(postgres_bin "$(cat "$folder/PG_VERSION")") || return 0
    as_postgres "$bin/pg_ctl" -D "$folder" -w -t 60 -m fast stop > /dev/null 2>&1 ||
        as_postgres "$bin/pg_ctl" -D "$folder" -w -t 20 -m immediate stop > /dev/null 2>&1
}
