// Command lines of agents: their parts, which of them only look, and what makes two of them the same thing run again.

/** Programs that show something and change nothing, as they are used by agents. */
const LOOKING: ReadonlySet<string> = new Set(
  (
    "awk basename cat cd command cut date df diff dirname du echo env export fd file find grep head jq less ls nl printf ps " +
    "pwd readlink realpath rg sleep sort stat tail test tr tree true type uniq wc which"
  ).split(" "),
);
const GIT_LOOKING =
  /^git (?:-C \S+ |--no-pager )*(?:blame|branch --show-current|branch -[avlr]+|cat-file|config --get\S*|diff|log|ls-files|ls-tree|remote -v|rev-parse|shortlog|show|status)\b/;
const SED_LOOKING = /^sed (?:-n|-E -n|-ne)\b/;
const GO_LOOKING = /^go (?:doc|env|list|version)\b/;
/** What stands in quotes separates no commands. */
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"/g;
/** Most characters looked at; ledgers keep less. */
const SEEN_CHARS = 400;
/** What stands before a program: values of variables, and words of the shell. */
const BEFORE_PROGRAM = /^(?:(?:[A-Za-z_]\w*=\S*|time|sudo|nohup|command|exec|then|do|else|!)\s+)+/;
/** Programs whose next word says what they do. */
const WITH_VERB =
  /^(?:git|go|cargo|npm|pnpm|yarn|bun|deno|npx|uv|poetry|pip3?|python3?|node|docker|kubectl|mise|make|just|task|gradle|\.\/gradlew|mvn|dotnet|mix|rake|bundle|swift|terraform|gh|glab)$/;
/** A pipe that only shortens what is shown, at the end of a line. */
const SHORTENED = /(?:\s*2>&1)?(?:\s*\|\s*(?:head|tail)(?:\s+-\w*\s*\d+|\s+-n\s*\d+)?)?\s*$/;
const MOVED = /^cd\s+(?:"[^"]*"|'[^']*'|\S+)\s*(?:&&|;|\n)\s*/;
/** A script given in the command line itself: one has nothing to do with the next. */
const INLINE = /^(?:python3?|node|ruby|perl|bash|sh|zsh|deno|bun)\s+(?:-\w*[ce]\b|--eval\b|eval\b|-(?=\s|$)|<<)/;
const VALUE = /^[A-Za-z_]\w*=\$\(\s*/;

/** Whether a command line, all of its parts, only looks. */
export function onlyLooks(command: string): boolean {
  return partsOf(command).every(isLook);
}

/** The command without what shortens its output and the folder it begins with, as its reader tells it from others. */
export function plainCommand(command: string): string {
  return command.trim().replace(MOVED, "").replace(SHORTENED, "").trim();
}

/** What the last part that does something runs: `go test`, `npm run lint`; null when all only look. */
export function lastAction(command: string): string | null {
  return actionsOf(command).at(-1) ?? null;
}

/** What the parts run that do something, in order. */
export function actionsOf(command: string): readonly string[] {
  return partsOf(command)
    .filter((part) => !isLook(part))
    .map((part) => actionOf(part, command));
}

function actionOf(part: string, command: string): string {
  const bare = bareOf(part);
  if (INLINE.test(bare)) return command;
  const [program = "", verb = "", what = ""] = bare.split(/\s+/);
  if (!WITH_VERB.test(program)) return /^\w[\w:-]*$/.test(verb) ? `${program} ${verb}` : program;
  return verb === "run" || verb === "-m" || verb === "exec" ? `${program} ${verb} ${what}` : `${program} ${verb}`;
}

function bareOf(part: string): string {
  return part.replace(VALUE, "").replace(BEFORE_PROGRAM, "");
}

function partsOf(command: string): readonly string[] {
  return command
    .slice(0, SEEN_CHARS)
    .replace(QUOTED, "Q")
    .replace(/["'].*/s, "Q")
    .split(/&&|[;|\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "" && !/^(?:for .*|done|fi|esac|\\)$/.test(part));
}

function isLook(part: string): boolean {
  if (/[^0-9&>]>{1,2}(?!>)\s*(?!\/dev\/null|&)\S/.test(part)) return false;
  const bare = bareOf(part);
  const [program = ""] = bare.split(/\s/, 1);
  // A value given to a variable, alone.
  if (/^[A-Za-z_]\w*=/.test(program)) return true;
  return LOOKING.has(program) || GIT_LOOKING.test(bare) || SED_LOOKING.test(bare) || GO_LOOKING.test(bare);
}
