// Stored bytes as text, where a text can be so long: a pack of some hundred kB may hold a file of a GB.
import { constants } from "node:buffer";
import { type JpgError, repositoryError } from "../../core/errors.ts";

/** The longest text that there can be, bytes: half a GB. jpg writes no file of one line that has a hundredth of it. */
export const LONGEST_TEXT: number = constants.MAX_STRING_LENGTH;

/** Decodes a file's bytes. Throws `text_too_long`. */
export function decodeText(bytes: Uint8Array | undefined, longest: number = LONGEST_TEXT): string {
  if (bytes !== undefined && bytes.length > longest) throw textTooLong(bytes.length, longest);
  return new TextDecoder().decode(bytes);
}

/** The error of a file, or a line of one, that no program could have meant. */
export function textTooLong(bytes: number, longest: number = LONGEST_TEXT): JpgError {
  return repositoryError("text_too_long", `A stored text of ${bytes} bytes is not read: ${longest} are the most.`, {
    hints: [
      "Nothing that jpg writes is as long. `jpg rm ID` removes the conversation; get it again from where it came.",
    ],
  });
}
