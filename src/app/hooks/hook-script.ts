// What an agent's hook runs: a script of the user's own that puts the session's file aside and has jpg take it in behind the
// agent's back. It starts no node that anybody waits for, says nothing, and ends well whatever happens.
import { quoteForShell } from "../../core/safe-text.ts";
import type { HookPlaces } from "./hook-places.ts";

/** A file up to this size is copied while the agent waits, KiB: a few milliseconds. A larger one is linked, then copied. */
const COPIED_KIB = 8 * 1024;

/** The line that stands in an agent's settings. `isShared` = other people may have the file: it names nobody's home. */
export function hookLine(
  { script }: Pick<HookPlaces, "script">,
  { agent, copies, isShared }: { readonly agent: string; readonly copies: boolean; readonly isShared: boolean },
): string {
  const words = copies ? `${agent} copy` : agent;
  if (!isShared) return `[ ! -f ${quoteForShell(script)} ] || /bin/sh ${quoteForShell(script)} ${words}`;
  const found = `f="\${XDG_STATE_HOME:-$HOME/.local/state}/jpg/hooks/keep.sh"; [ ! -f "$f" ] || exec /bin/sh "$f" ${words}`;
  return `/bin/sh -c ${quoteForShell(found)}`;
}

/**
 * The script. The event goes into the spool as it came. Of it the shell takes one thing, the session's path, and only where it
 * stands there without an escape: it is a word between quotes from then on. Any other is left to jpg.
 */
export function hookScript({ nodePath, jpgPath, spool }: HookPlaces): string {
  return SCRIPT.replace(
    "PLACES",
    () => `node=${quoteForShell(nodePath)} jpg=${quoteForShell(jpgPath)} spool=${quoteForShell(spool)}`,
  ).replace("COPIED", () => String(COPIED_KIB * 2 + 1));
}

const SCRIPT = String.raw`#!/bin/sh
# jpg's hook (jpg hooks install): keeps a session before its agent ends or compacts it. jpg hooks uninstall takes it away.
exec >/dev/null 2>&1
PLACES
[ -x "$node" ] && [ -f "$jpg" ] || exit 0
umask 077
export LC_ALL=C
unset NODE_OPTIONS

copy_aside() {
  cp -- "$1" "$entry/draft" && mv -f -- "$entry/draft" "$entry/session"
}

# Behind the agent's back, with no terminal and in a session of its own.
if [ "$1" = --after ]; then
  entry=$2 path=$3
  if [ -f "$entry/link" ]; then copy_aside "$entry/link"
  elif [ -n "$path" ] && [ ! -f "$entry/session" ]; then copy_aside "$path"
  fi
  : >"$entry/ready"
  cd / || exit 0
  exec "$node" "$jpg" sync --spool --quiet
fi

[ -d "$spool" ] || mkdir -p -- "$spool" || exit 0
entry=$(mktemp -d "$spool/XXXXXXXXXX") || exit 0
cat >"$entry/event"
printf %s "$1" >"$entry/agent"
path=$(sed -n 's/.*"transcript_path"[[:blank:]]*:[[:blank:]]*"\(\/[^"\\]*\)".*/\1/p' "$entry/event")
case $path in *'
'*) path= ;; esac
[ -f "$path" ] || path=
if [ -n "$path" ]; then
  # A link shares what is written into the file later; a copy does not. Where copies cost nothing they are made.
  if [ "$2" = copy ] || [ -n "$(find -L "$path" -prune -size -COPIED)" ]; then copy_aside "$path"
  elif cp --reflink=always -- "$path" "$entry/draft"; then mv -f -- "$entry/draft" "$entry/session"
  else ln -L -- "$path" "$entry/link"
  fi
fi
if command -v setsid; then setsid /bin/sh "$0" --after "$entry" "$path" </dev/null &
else
  trap '' HUP
  /bin/sh "$0" --after "$entry" "$path" </dev/null &
fi
exit 0
`;
