// Beginnings of ids, as they can be typed for them and as they are shown.
import { abbreviateCommit } from "../../src/core/conversation/name.ts";

/** The first characters of an id: `length` of them, and more where these are digits, which would be the number of a turn. */
export function beginningOf(id: string, length: number): string {
  return abbreviateCommit(id, length);
}

/** The source of a pattern for a commit that is shown in short: seven characters, and more only where these are digits. */
export const SHORT_COMMIT = "(?:(?=[0-9a-f]{0,6}[a-f])[0-9a-f]{7}|\\d{7,39}[a-f])";
