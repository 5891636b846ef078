// Which commands of a ledger did something: those that only look at files, or at what git knows, tell nothing later on.

/** Programs that show something and change nothing, as they are used by agents. */
const LOOKING: ReadonlySet<string> = new Set(
  "cat cd cut date diff du echo env file find grep head jq less ls pwd rg sleep sort stat tail tree true uniq wc which".split(
    " ",
  ),
);
const GIT_LOOKING =
  /^git (?:-C \S+ )?(?:blame|branch --show-current|diff|log|ls-files|remote -v|rev-parse|show|status)\b/;
const SED_LOOKING = /^sed (?:-n|-E -n|-ne)\b/;
/** What stands in quotes separates no commands. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/g;
/** Most characters looked at; ledgers keep less. */
const SEEN_CHARS = 400;

/** Whether a command line, all of its parts, only looks. */
export function onlyLooks(command: string): boolean {
  return command
    .slice(0, SEEN_CHARS)
    .replace(QUOTED, "Q")
    .replace(/["'].*/s, "Q")
    .split(/&&|[;|]/)
    .map((part) => part.trim())
    .every((part) => part === "" || isLook(part));
}

function isLook(part: string): boolean {
  if (/[^0-9&>]>{1,2}(?!>)\s*(?!\/dev\/null|&)\S/.test(part)) return false;
  const [program = ""] = part.split(/\s/, 1);
  return LOOKING.has(program) || GIT_LOOKING.test(part) || SED_LOOKING.test(part);
}
