#!/bin/sh
# Fetches one ref of a git repository into GIT_DESTINATION and looks for GIT_NOTEBOOK_PATH in it.
#
# In: GIT_URL, GIT_REF, GIT_NOTEBOOK_PATH, GIT_DESTINATION, GIT_MAX_BYTES, GIT_TIMEOUT_SECONDS, and, where the job names a
# Secret, its keys as files in GIT_CREDENTIALS. Out: the exit code, and one sentence in TERMINATION_LOG and on stdout.
#   0 fetched   1 other failure   2 credentials   3 ref   4 notebook path   5 size   6 time   7 unreachable
#   8 no such repository   9 a program is missing in this image
# Runs in images of other people: POSIX sh and the usual small programs only. What git and the server write is never
# shown where it holds a password; what the server writes is not shown at all.
set -u
export LC_ALL=C
: "${GIT_CREDENTIALS:=/mooring-credentials}" "${TERMINATION_LOG:=/dev/termination-log}"
# Credentials in the URL itself are refused below, and not repeated here.
shown=$(printf %s "$GIT_URL" | sed 's,://[^/]*@,://,')
child='' watcher=''

say() {
    printf '%s\n' "$1"
    printf '%s\n' "$1" 2>/dev/null >"$TERMINATION_LOG"
}

stop() {
    say "$2"
    exit "$1"
}

for program in git mktemp sed grep du; do
    command -v "$program" >/dev/null || stop 9 "The image of this container has no $program; use an image with git for cloning."
done
work=$(mktemp -d) || stop 1 "No folder can be made in ${TMPDIR:-/tmp}, which cloning needs."
trap 'rm -rf "$work"' EXIT
# The first process of a container ends at SIGTERM only if it says so.
trap '[ -z "$child" ] || kill "$child" "$watcher"; exit 143' TERM INT

# 1. Credentials: which of them go with this URL.

has() { [ -s "$GIT_CREDENTIALS/$1" ]; }

in_secret="the Secret that credentialsSecret names"
case $GIT_URL in
http://* | https://*) transport=http ;;
git://*) transport=git ;;
*) transport=ssh ;;
esac
case $GIT_URL in
http*://*:*@*)
    authority=${GIT_URL#*://}
    authority=${authority%%/*}
    case $authority in
    *:*@*) stop 2 "The url of $shown has a password in it; put it into a Secret and name that in credentialsSecret." ;;
    esac
    ;;
esac
with=none
if [ -d "$GIT_CREDENTIALS" ]; then
    if has ssh-privatekey && [ $transport = ssh ]; then
        with=key
    elif has username && { has password || has token; } && [ $transport = http ]; then
        with=password
    elif [ $transport = git ]; then
        stop 2 "The url $shown cannot carry credentials; use https or ssh, or name no credentialsSecret."
    elif [ $transport = ssh ]; then
        stop 2 "The url $shown needs the key ssh-privatekey, which is not in $in_secret."
    elif has ssh-privatekey; then
        stop 2 "The url $shown cannot use the ssh-privatekey of $in_secret; write it as ssh://, or give username and password."
    elif has username; then
        stop 2 "There is a username but neither password nor token in $in_secret."
    elif [ -z "$(ls "$GIT_CREDENTIALS")" ]; then
        stop 2 "Nothing is in $in_secret, or there is no such Secret; it needs ssh-privatekey, or username with password or token."
    else
        stop 2 "There is neither ssh-privatekey nor username with password or token in $in_secret."
    fi
fi

GIT_TERMINAL_PROMPT=0
GIT_ASKPASS=false
# Neither files of this container nor programs of the URL's choice.
GIT_ALLOW_PROTOCOL=http:https:git:ssh
GIT_LFS_SKIP_SMUDGE=1
export GIT_TERMINAL_PROMPT GIT_ASKPASS GIT_ALLOW_PROTOCOL GIT_LFS_SKIP_SMUDGE
redirects=initial
case $with in
password)
    # A file of a ConfigMap cannot be run.
    (umask 077 && cat "$(dirname "$0")/askpass.sh" >"$work/askpass" && chmod 700 "$work/askpass")
    GIT_ASKPASS=$work/askpass
    server=${GIT_URL#*://}
    server=${server%%/*}
    GIT_CREDENTIALS_ORIGIN=${GIT_URL%%://*}://${server##*@}
    export GIT_ASKPASS GIT_CREDENTIALS GIT_CREDENTIALS_ORIGIN
    # A redirect could lead to a server that the credentials are not for.
    redirects=false
    ;;
esac
if [ $transport = ssh ]; then
    command -v ssh >/dev/null || stop 9 "The image of this container has no ssh; use an image with git and ssh for cloning."
    identity=none
    if [ $with = key ]; then
        identity=$work/key
        # ssh wants a file that nobody else can read, lines of Unix, and an end of line after the last one.
        (umask 077 && { tr -d '\r' <"$GIT_CREDENTIALS/ssh-privatekey" && echo; } >"$identity")
    fi
    hosts=$work/known_hosts checking=accept-new
    if [ $with = key ] && has known_hosts; then
        hosts=$GIT_CREDENTIALS/known_hosts checking=yes
    fi
    GIT_SSH_VARIANT=ssh
    GIT_SSH_COMMAND="ssh -F /dev/null -o BatchMode=yes -o LogLevel=ERROR -o IdentityAgent=none -o IdentitiesOnly=yes"
    # shellcheck disable=SC2089 # git has a shell read the command
    GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o IdentityFile='$identity' -o UserKnownHostsFile='$hosts'"
    GIT_SSH_COMMAND="$GIT_SSH_COMMAND -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=$checking"
    # shellcheck disable=SC2090
    export GIT_SSH_VARIANT GIT_SSH_COMMAND
fi

# 2. Fetching, within the limits of size and time.

deadline=$(($(date +%s) + GIT_TIMEOUT_SECONDS))

# git in the repository. The first word is how: `command`, or `exec` in place of the shell, which signals then reach.
repository() {
    how=$1
    shift
    $how git -C "$GIT_DESTINATION" -c credential.helper= -c credential.useHttpPath=false -c http.followRedirects=$redirects \
        -c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false \
        -c advice.detachedHead=false "$@"
}

kilobytes() {
    du -sk "$GIT_DESTINATION" 2>/dev/null | sed 's/[^0-9].*//' | grep . || echo 0
}

watch() {
    while sleep 1 && [ "$(cat "$work/watched")" = "$1" ]; do
        over=''
        [ "$(date +%s)" -lt "$deadline" ] || over='time'
        [ "$(kilobytes)" -le $((GIT_MAX_BYTES / 1024)) ] || over='size'
        [ -z "$over" ] || { echo "$over" >"$work/over" && kill "$1" && break; }
    done
}

# Runs git in the repository; its exit code. What it says goes to a file.
limited() {
    # Fast networks outrun a look once a second: no file, such as the pack, is ever larger than the limit. In 512 bytes.
    (ulimit -f $((GIT_MAX_BYTES / 512 + 1)); repository exec "$@") >/dev/null 2>"$work/said" </dev/null &
    child=$!
    # A signal that comes before a new shell has begun may be lost: the file ends the watcher for certain.
    echo "$child" >"$work/watched"
    (watch "$child") >/dev/null 2>&1 &
    watcher=$!
    wait "$child"
    code=$?
    child=
    rm "$work/watched"
    kill "$watcher" 2>/dev/null
    if grep -qi 'file size limit exceeded\|file too large' "$work/said" || [ $code = 153 ] || [ $code = 159 ] \
        || { [ ! -e "$work/over" ] && [ "$(kilobytes)" -gt $((GIT_MAX_BYTES / 1024)) ]; }; then
        echo size >"$work/over"
    fi
    case $(cat "$work/over" 2>/dev/null) in
    time) stop 6 "Cloning $shown took longer than $GIT_TIMEOUT_SECONDS seconds." ;;
    size) stop 5 "The repository $shown at $GIT_REF is larger than $GIT_MAX_BYTES bytes." ;;
    esac
    return $code
}

said() { grep -qi "$1" "$work/said"; }

# What git itself said last, without what the server said; nothing if a password could be in it.
reason() {
    for key in password token; do
        if [ $with = password ] && has $key && grep -qF -f "$GIT_CREDENTIALS/$key" "$work/said"; then
            return
        fi
    done
    grep -i '^\(fatal\|error\|ssh\|load key\)' "$work/said" | grep -vi 'remote error\|^remote:\|got ' | head -n 1 | sed 's/[[:cntrl:]]//g'
}

# Ends with what a failed fetch means, unless it may only mean that this ref cannot be fetched by itself. git repeats the
# URL and the ref, so what is looked for are phrases that neither can be.
explain() {
    if said "couldn.t find remote ref\\|not our ref \\|unadvertised object\\|dumb http transport"; then
        return
    elif said 'host key verification failed\|remote host identification has changed'; then
        stop 2 "The host key of $shown is not the one in known_hosts of $in_secret."
    elif said 'could not read username for\|could not read password for\|authentication failed for\|permission denied (\|returned error: 40[13]$\|": invalid format\|": error in libcrypto'; then
        [ $with != none ] || stop 2 "The repository $shown asks for credentials; put them into a Secret and name it in credentialsSecret."
        stop 2 "The repository $shown refuses the credentials of $in_secret."
    elif said 'returned error: 30[0-9]$\|unable to update url base from redirection'; then
        stop 2 "The server of $shown redirects, which is not followed with credentials; write the address that it redirects to (often the same with .git) as url."
    elif said "repository '.*' not found\\|repository not found\\|returned error: 404\$\\|repository not exported\\|does not appear to be a git repository\\|no such repository"; then
        stop 8 "There is no repository $shown, or it is not for these credentials to see."
    elif said 'could not resolve \|unable to look up\|connection refused\|failed to connect\|couldn.t connect\|unable to connect\|timed out\|no route to host\|network is unreachable\|connection reset\|connection closed\|early eof\|hung up unexpectedly\|returned error: 5[0-9][0-9]$\|certificate problem\|certificate verif\|handshake\|ssl_\|tls connect'; then
        stop 7 "The server of $shown cannot be reached: $(reason)"
    fi
}

case $GIT_REF in
-*) stop 3 "The ref $GIT_REF is not a name that git knows." ;;
esac
git check-ref-format --allow-onelevel "$GIT_REF" || stop 3 "The ref $GIT_REF is not a name that git knows."
rm -rf "$GIT_DESTINATION"
git -c init.defaultBranch=main init -q --template= "$GIT_DESTINATION" 2>"$work/said" \
    || stop 1 "No repository can be made in $GIT_DESTINATION: $(reason)"

found=FETCH_HEAD
if ! limited fetch -q --depth=1 --no-tags --no-recurse-submodules -- "$GIT_URL" "$GIT_REF"; then
    explain
    # A part of a commit's number, a server that gives out no single commits, or one that is plain files.
    limited fetch -q --no-recurse-submodules -- "$GIT_URL" '+refs/heads/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*' || {
        explain
        stop 1 "Cloning $shown failed: $(reason)"
    }
    found=
    for name in "refs/tags/$GIT_REF" "refs/remotes/origin/$GIT_REF" "refs/remotes/origin/${GIT_REF#refs/heads/}" "$GIT_REF"; do
        if repository command rev-parse -q --verify "$name^{commit}" >/dev/null 2>&1; then
            found=$name
            break
        fi
    done
    [ -n "$found" ] || stop 3 "The repository $shown has no branch, tag or commit $GIT_REF."
fi
commit=$(repository command rev-parse -q --verify "$found^{commit}" 2>/dev/null) \
    || stop 3 "The ref $GIT_REF of $shown is not a commit."
limited checkout -q --detach "$commit" -- || stop 1 "Commit $commit of $shown cannot be checked out: $(reason)"

# 3. The notebook. The container that runs it may have another user, and notebooks write beside themselves.

case /$GIT_NOTEBOOK_PATH/ in
*/../* | //*) stop 4 "The path $GIT_NOTEBOOK_PATH leads out of the repository $shown." ;;
esac
[ -f "$GIT_DESTINATION/$GIT_NOTEBOOK_PATH" ] \
    || stop 4 "There is no file $GIT_NOTEBOOK_PATH in $shown at $GIT_REF (commit $commit)."
chmod -R a+rwX "$GIT_DESTINATION"
say "Cloned $shown at $GIT_REF, commit $commit."
