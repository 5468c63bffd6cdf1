#!/bin/sh
case ${0##*/} in
init)
  exec 3>&2 2>/dev/null
  if command -v setsid >/dev/null; then (exec setsid "$@" 2>&3 3>&-); else (exec "$@" 2>&3 3>&-); fi
  exit $?
  ;;
esac

_c=0 _d=$PWD _s=${#0}
[ ${#_d} -lt 900 ] || _d=
_s=$((_s + ${#_d}))
for _a do
  _s=$((_s + ${#_a} + 1))
  [ $_s -lt 950 ] || { _c=$#; break; }
done
if [ $_c -eq 0 ]; then
  printf '%s\0' @ $$ $PPID 0 "$_d" $(($# + 1)) "$0" "$@" 2>/dev/null 1<>/run/systemd/notify
else
  printf '%s\0' @ $$ $PPID $_c "$_d" 1 "$0" 2>/dev/null 1<>/run/systemd/notify
fi

case $0 in
/usr/local/bin/*) exec "/usr/bin/${0##*/}" "$@" ;;
/usr/*) exec "/usr/local/libexec/${0#/usr/}" "$@" ;;
*) exec "/usr/local/libexec/bin/${0##*/}" "$@" ;;
esac
