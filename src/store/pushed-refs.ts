// What git tells a `pre-push` hook (githooks(5)).

/** A ref that git is about to push. */
export interface PushedRef {
  /** What was named here: a ref, or any revision, with spaces in it too. */
  readonly from: string;
  /** The object, zeros where the ref is removed. */
  readonly commit: string;
  readonly to: string;
  /** What stands there now, zeros for nothing. */
  readonly there: string;
}

/** Reads the lines that git gives a `pre-push` hook. */
export function parsePushedRefs(lines: string): readonly PushedRef[] {
  return [...lines.matchAll(/^(.*) ([0-9a-f]{40}) (\S+) ([0-9a-f]{40})$/gm)].map(
    ([, from = "", commit = "", to = "", there = ""]) => ({ from, commit, to, there }),
  );
}
