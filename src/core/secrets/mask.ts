// A secret as it may be shown: its mark and how long it is.

/** Characters shown of its beginning at most: the marks of issuers, such as `sk-ant-` or `ghp_`, and no more than a fifth of it. */
const SHOWN = 7;

/** Gives a sample for people, e.g. `ghp_… (40 characters)`; of a short one nothing but its length. */
export function sampleOf(secret: string): string {
  const shown = secret.slice(0, Math.min(SHOWN, Math.floor(secret.length / 5))).replace(/[^A-Za-z0-9_-].*$/s, "");
  return `${shown}… (${secret.length} characters)`;
}
