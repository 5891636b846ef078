// Titles of conversations: one clean line, never long, whoever wrote it.
import { userError } from "./errors.ts";
import { forLine } from "./safe-text.ts";

/** Longest title, characters (code points). */
const LONGEST = 200;
/** Longest title that is made of a request, characters. */
const LONGEST_MADE = 80;

/** Parses a title that a person gives. Throws `empty_title`, `long_title`. */
export function parseTitle(text: string): string {
  const title = forLine(text);
  const length = [...title].length;
  if (title === "") {
    throw userError("empty_title", "A title must hold at least one character that is not blank.", {
      hints: ['`jpg title @ "Fix the parser"`'],
    });
  }
  if (length > LONGEST) {
    throw userError("long_title", `A title has at most ${LONGEST} characters; this one has ${length}.`, {
      hints: ["Give a shorter one; the details are in the conversation."],
    });
  }
  return title;
}

/** Makes a stored title fit to show and to pass on; "" when nothing is left of it. */
export function shownTitle(text: string): string {
  return cutTitle(text, LONGEST);
}

/** Makes a title of the first words of a request; "" when it has none. */
export function titleOfRequest(text: string): string {
  return cutTitle(text, LONGEST_MADE);
}

function cutTitle(text: string, limit: number): string {
  const line = forLine(text, limit + 1);
  const characters = [...line];
  return characters.length <= limit
    ? line
    : `${characters
        .slice(0, limit - 1)
        .join("")
        .trimEnd()}…`;
}
