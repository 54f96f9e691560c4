#!/bin/sh
# Runs workerd so that it ends with the gateway that started it, also when that one is killed.
#
# Miniflare starts this instead of workerd (MINIFLARE_WORKERD_PATH) and keeps the other end of descriptor 3, a socket,
# for as long as it wants workerd. A watcher in the background reads it: the kernel closes the other end when the gateway
# ends, however it ends. This process becomes workerd itself: its id, its exit code and signals to it are workerd's.
#
# HEADGATE_WORKERD: the true program. HEADGATE_WORKERD_PID: the file that its process id is written to.
echo $$ > "$HEADGATE_WORKERD_PID" || exit 1
(
  # An interrupt of the whole group must not end the watcher before the gateway.
  trap '' INT TERM HUP
  cat <&3
  # A workerd that ended long before its gateway may have left its id to another process.
  case "$(cat /proc/$$/cmdline 2>&1 || ps -o command= -p $$)" in
    *workerd*serve*) kill -9 $$ ;;
  esac
) </dev/null >/dev/null 2>&1 &
exec "$HEADGATE_WORKERD" "$@"
