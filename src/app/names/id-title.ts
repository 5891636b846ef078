// The title that a conversation's id is made of: an id is a name of branches, which stands in messages, logs and on hosts.

/** Whether a text may hold a secret at all: a word of letters and digits as long as one, or an address. */
const MAY_HOLD_SECRET = /(?=\S*\d)(?=\S*[a-z])\S{8}|:\/\//i;

/** Leaves secrets out of the title that an id is made of. The rules are loaded where they may be needed. */
export async function titleForId(title: string): Promise<string> {
  if (!MAY_HOLD_SECRET.test(title)) return title;
  const { clearOfSecrets } = await import("../../core/secrets/find-secrets.ts");
  return clearOfSecrets(title);
}
