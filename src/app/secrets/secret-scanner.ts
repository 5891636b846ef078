// Looks for secrets in a text: jpg's own rules, and those of secretlint, which knows what its maintainers follow up. Its rule that
// lets a comment switch the others off is left out: what is scanned here is what anybody may have said.
import { type FoundSecret, findSecrets, withoutOverlaps } from "../../core/secrets/find-secrets.ts";
import { isDocumented } from "../../core/secrets/likely-secret.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Raised when rules find what they did not find before: what was found clean is looked at again then. */
export const RULES_VERSION = 8;

export interface SecretScanner {
  /** Lists the secrets of a text, in order, none within another. */
  scan(text: string): Promise<readonly FoundSecret[]>;
}

/** Left out of the names that are shown. */
const PREFIX = /^@secretlint\/secretlint-rule-/;
const LEFT_OUT: ReadonlySet<string> = new Set([
  "filter-comments",
  // jpg's own rule for addresses knows local ones, and stand-ins for passwords.
  "basicauth",
  "database-connection-string",
]);

/** Characters from which on a scan is felt. */
const MUCH = 16 * 1024 * 1024;

/** Loads the rules: they are much code, and few commands need them. `warn` is told, once, where there is much to scan. */
export async function loadSecretScanner({ warn }: Pick<Workspace, "warn">): Promise<SecretScanner> {
  const [{ lintSource }, preset] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  const rules = preset.rules
    .filter(({ meta }) => !LEFT_OUT.has(meta.id.replace(PREFIX, "")))
    .map((rule) => ({ id: rule.meta.id, rule, options: {} }));
  const lint = async (text: string): Promise<readonly FoundSecret[]> => {
    const source = { content: text, filePath: "text.txt", ext: ".txt", contentType: "text" } as const;
    const { messages } = await lintSource({ source, options: { config: { rules }, noPhysicFilePath: true } });
    return messages.map(({ ruleId, range: [start, end] }) => ({ rule: ruleId.replace(PREFIX, ""), start, end }));
  };
  let scanned = 0;
  return {
    async scan(text) {
      scanned += text.length;
      if (scanned >= MUCH)
        warn(
          "More than 16 MB are looked through for secrets: this takes seconds, and longer where a line is that long.",
        );
      const others = (await lint(text)).filter(({ start, end }) => !isDocumented(text.slice(start, end)));
      // jpg's own first: of two that begin together the sort is stable.
      return withoutOverlaps([...findSecrets(text), ...others]);
    },
  };
}
