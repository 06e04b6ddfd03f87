#!/bin/sh
# Answers git's questions for a user name and a password out of files, so that neither is ever in a command or a variable.
# Only for the server that the job names (GIT_CREDENTIALS_ORIGIN): a proxy, or another server, may ask too.
asked=${1#*\'}
asked=${asked%%\'*}
server=${asked#*://}
server=${server%%/*}
[ "${asked%%://*}://${server##*@}" = "$GIT_CREDENTIALS_ORIGIN" ] || exit 1
case $1 in
Username*) exec cat "$GIT_CREDENTIALS/username" ;;
Password*)
    [ -e "$GIT_CREDENTIALS/password" ] && exec cat "$GIT_CREDENTIALS/password"
    exec cat "$GIT_CREDENTIALS/token"
    ;;
esac
exit 1
