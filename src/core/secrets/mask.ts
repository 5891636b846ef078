// A secret as it may be shown and stored in its place: its mark, how long it was, and a digest by which the same secret is told again.

/** Characters shown of its beginning at most: the marks of issuers, such as `sk-ant-` or `ghp_`, and no more than a fifth of it. */
const SHOWN = 7;

/** Gives a sample for people, e.g. `ghp_… (40 characters)`; of a short one nothing but its length. */
export function sampleOf(secret: string): string {
  const shown = secret.slice(0, Math.min(SHOWN, Math.floor(secret.length / 5))).replace(/[^A-Za-z0-9_-].*$/s, "");
  return `${shown}… (${secret.length} characters)`;
}

/** Gives what stands in the place of a secret that was masked: the same for the same digest, hexadecimal. */
export function maskOf(rule: string, digest: string): string {
  return `[redacted ${rule} ${digest.slice(0, 8)}]`;
}
