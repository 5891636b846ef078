// What the files say that git keeps refs in (gitrepository-layout(5)).

/** What HEAD of a worktree says. */
export type Head = { readonly ref: string } | { readonly commit: string };

/** What the text of a ref says; null when it is none. */
export function parseHead(text: string | null): Head | null {
  if (text === null) return null;
  const symbolic = /^ref:\s*(\S.*?)\s*$/.exec(text);
  if (symbolic?.[1] !== undefined) return { ref: symbolic[1] };
  const commit = /^[0-9a-f]{40,64}/.exec(text);
  return commit === null ? null : { commit: commit[0] };
}

/** Finds a ref in the text of packed-refs (`<oid> <ref>` per line). */
export function findPackedRef(text: string, ref: string): string | null {
  const end = text.indexOf(` ${ref}\n`);
  if (end < 0) return null;
  const oid = text.slice(text.lastIndexOf("\n", end) + 1, end);
  return /^[0-9a-f]{40,64}$/.test(oid) ? oid : null;
}
