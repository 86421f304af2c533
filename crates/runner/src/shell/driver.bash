# The program of the persistent shell: it reads a command from a private descriptor, runs it and reports. It is
# passed to bash as ONE line, so that line numbers in bash's messages are the command's own. Lines that begin with a
# hash are left out, so every other line must be joinable by a space.
#
# Descriptors: when bash starts, 0 is for commands, 1 for reports and 2 is the output pipe. Commands and reports
# move to other numbers, and those are closed for every command.
exec 88<&0 89>&1 0</dev/null 1>&2;
__deskhand_busy= __deskhand_status=0 __deskhand_trace=;
# Lets a command see the exit status of the one before it as $?.
__deskhand_again() { return "$1"; };
# An interrupt drops the whole command list and keeps the shell. Outside functions, `continue` with more levels than
# there are ends in our outermost loop. A function has to be left first: until the outside is reached, every
# following command is replaced by another `return`. There, the current command is skipped. A `for` loop must not be
# skipped, since bash then miscounts the remaining loops: it ends by the `continue` alone.
__deskhand_unwind='{
 if [[ -n ${FUNCNAME-} ]]; then return 130;
 elif [[ $BASH_COMMAND == for\ * ]]; then trap - DEBUG; continue 999;
 else trap - DEBUG; ! continue 999; fi;
 } 2>/dev/null';
trap '{
 if [[ -z $__deskhand_busy ]]; then :;
 elif [[ -n ${FUNCNAME-} ]]; then
 shopt -s extdebug; trap "$__deskhand_unwind" DEBUG; return 130;
 else continue 999; fi;
 } 2>/dev/null' INT;
# There are loops around the loop, and all the work is in its condition: a stray `break` or `continue` of a command
# ends up in the condition again and is reported like any other ending.
while :; do
while :; do
while {
__deskhand_status=$? __deskhand_busy=;
if shopt -q extdebug; then shopt -u extdebug; set +ET; fi;
case $- in *x*) set +x; __deskhand_trace='set -x; ';; *) __deskhand_trace=;; esac;
# The nonce is read only now, so that the command could not know it.
if [[ -v __deskhand_command ]]; then
IFS= TMOUT= builtin read -r -d '' -u 88 __deskhand_nonce;
builtin printf '%s %d %s\0' "$__deskhand_nonce" "$__deskhand_status" "${PWD-}" >&89;
fi;
# A signal may interrupt the read (status above 128). At the end of input, the runner is gone.
until IFS= TMOUT= builtin read -r -d '' -u 88 __deskhand_command; do [[ $? -gt 128 ]] || exit; done;
__deskhand_busy=1;
} 2>/dev/null; do
[[ $- == *e* ]] || __deskhand_again "$__deskhand_status";
builtin eval "$__deskhand_trace$__deskhand_command" 0</dev/null 88<&- 89>&-;
done;
done;
done
