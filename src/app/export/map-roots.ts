// Paths of somebody else's machine as they are on this one: in what is exported alone, never in what is stored.
import { resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import type { Event } from "../../core/event/event.ts";
import type { View } from "../../core/projection/view.ts";
import { maskLine } from "../../core/secrets/mask-line.ts";

/** A folder there, and the one that stands for it here. */
export interface RootMapping {
  readonly from: string;
  readonly to: string;
}

/** Reads `OLD=NEW` words; OLD is absolute, NEW may begin at `cwd`. Throws `usage`, also where two say what one OLD is. */
export function parseRoots(words: readonly string[], cwd: string): readonly RootMapping[] {
  const roots = words.map((word) => parseRoot(word, cwd));
  for (const [at, { from, to }] of roots.entries()) {
    const other = roots.slice(0, at).find((root) => root.from === from && root.to !== to);
    if (other !== undefined)
      throw userError("usage", `--root: ${from} cannot become both ${other.to} and ${to}.`, {
        hints: ["Give --root once for each OLD."],
      });
  }
  return roots;
}

function parseRoot(word: string, cwd: string): RootMapping {
  const [, old = "", to = ""] = /^([^=]+)=(.+)$/.exec(word) ?? [];
  const from = old.replace(/[/\\]+$/, "");
  // A folder of a Windows machine is nowhere below this one.
  if (/^(?:\/|[A-Za-z]:[/\\])./.test(from) && to !== "") return { from, to: WINDOWS.test(to) ? to : resolve(cwd, to) };
  throw userError(
    "usage",
    `--root ${word}: expected OLD=NEW, where OLD is the absolute path of a folder other than /.`,
    {
      hints: ["--root /home/ada/tidepool=. puts this folder in the place of Ada's."],
    },
  );
}

const WINDOWS = /^[A-Za-z]:[/\\]/;

/** What goes on with the name of a folder. */
const NAME = "\\p{L}\\p{M}\\p{N}_\\-";
const NAME_ON = `${NAME}+@~%$`;

/** A view with other roots: wherever a path begins with one, whole names of folders only. */
export function mapRoots(view: View, roots: readonly RootMapping[]): View {
  if (roots.length === 0) return view;
  // The longest first: one may lie in another.
  const ordered = [...roots].sort((a, b) => b.from.length - a.from.length);
  const target = new Map(ordered.map(({ from, to }) => [from, to]));
  const names = ordered.map(({ from }) => from.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|");
  const path = new RegExp(`(?<![${NAME}./\\\\])(?:${names})(?![${NAME_ON}]|\\.[${NAME}])`, "gu");
  const mapper = {
    mask: (text: string): string => text.replace(path, (from) => target.get(from) ?? from),
    spans: () => [],
  };
  const map = (event: Event): Event => {
    const line = JSON.stringify(event);
    const mapped = maskLine(line, mapper);
    return mapped === line ? event : (JSON.parse(mapped) as Event);
  };
  return { turns: view.turns.map((turn) => ({ ...turn, events: turn.events.map(map) })) };
}
