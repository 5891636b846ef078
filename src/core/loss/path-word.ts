// Which words are file paths, and which shorter names may stand for a path.

/** Extensions that make a bare name a file; after a slash any extension does. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  (
    "astro bash bat c cc cfg cjs clj cmake conf cpp cs css csv cts cxx d dart diff ex exs fish go gql gradle graphql h hcl " +
    "hpp hs htm html ini ipynb java jl js json json5 jsonc jsonl jsx kt kts less lock log lua m md mdx mjs ml mm mod mts nix " +
    "patch php pl png pdf proto ps1 py pyi r rb rs rst sass scala scss sh sql sum svelte svg swift tcl tex tf tmpl toml ts " +
    "tsv tsx txt vue wasm xml yaml yml zig zsh jpg jpeg gif webp"
  ).split(" "),
);
/** Marks that no path holds, but places in a file do. */
const MARKED = /[:#%]/;
const EXTENSION = /^[A-Za-z][A-Za-z0-9]{0,7}$/;
const PLACE = /(?::\d{1,9}){1,2}(?:-\d{1,9})?$|#L\d{1,9}(?:-L?\d{1,9})?$/;
/** Marks that end words of prose, and slashes behind a directory. */
const END_MARKS = ".:-/";
/** Longest path that is taken for one, characters. */
const LONGEST = 400;

/**
 * Gives the path that a word is, without `./` before it and a place in the file (`:12:3`, `#L12`) behind it; null when it is
 * none. A path is absolute with two segments or more, or ends in a name with an extension; a bare name needs a known one.
 */
export function pathOf(word: string): string | null {
  if (word.length > LONGEST + 24) return null;
  const path = withoutEndMarks(normalPath(MARKED.test(word) ? word.replace(PLACE, "") : word));
  if (path.length > LONGEST || MARKED.test(path) || path.includes("//")) return null;
  const slash = path.lastIndexOf("/");
  if (slash > 0 && (path.startsWith("/") || path.startsWith("~/")) && path.indexOf("/", 1) > 0) return path;
  const dot = path.lastIndexOf(".");
  const extension = path.slice(dot + 1);
  if (dot < slash + 2 || !EXTENSION.test(extension)) return null;
  return slash >= 0 || EXTENSIONS.has(extension) ? path : null;
}

/** Takes what ends words away, and what it leaves of a last segment: a path that is found is found again in itself. */
function withoutEndMarks(path: string): string {
  let end = path.length;
  while (end > 0 && END_MARKS.includes(path.charAt(end - 1))) end -= 1;
  return path.slice(0, end);
}

/** Whether a word without slashes and marks can be a file: quicker than `pathOf`, which such words are not handed to otherwise. */
export function hasFileExtension(text: string, start: number, end: number): boolean {
  const dot = text.lastIndexOf(".", end - 1);
  return dot > start && EXTENSIONS.has(text.slice(dot + 1, end));
}

/** Takes `./` away from before a path and slashes from behind it. */
export function normalPath(path: string): string {
  const start = path.startsWith("./") ? 2 : 0;
  let end = path.length;
  while (end > start + 1 && path.endsWith("/", end)) end -= 1;
  return path.slice(start, end);
}

/** Gives the ends of a path that begin at a segment, longest first, the base name last; the path itself is not among them. */
export function pathEnds(path: string): readonly string[] {
  const ends: string[] = [];
  for (let at = path.indexOf("/"); at >= 0 && at < path.length - 1; at = path.indexOf("/", at + 1))
    ends.push(path.slice(at + 1));
  return ends;
}
