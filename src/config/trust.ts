// Trust in a file, a project's config or a format plug-in, bound to its exact content: a changed file is untrusted. The trust file
// is on the user's machine, outside any project.
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod/mini";
import { JpgError } from "../core/errors.ts";
import { parseJson } from "../core/json.ts";
import { type UserHome, userFolder } from "../core/user-folders.ts";

type TrustedDigests = Readonly<Record<string, string>>;

const FORMAT = 1;
const trustFile = z.object({ format: z.literal(FORMAT), trusted: z.record(z.string(), z.string()) });

/**
 * Computes the digest that trust is bound to: SHA-256, 64 hex digits, of a program's bytes or a text in UTF-8. Git for Windows checks
 * texts out with CRLF, which TOML reads as LF: at most the line ends within a text differ.
 */
export function trustDigest(content: string | Uint8Array): string {
  const compared = typeof content === "string" ? content.replaceAll("\r\n", "\n") : content;
  return createHash("sha256").update(compared).digest("hex");
}

/**
 * Whether the user trusted a file with exactly this digest. `trustFileText` undefined = there is no trust file yet.
 * Throws `bad_trust_file`.
 */
export function isTrusted(path: string, digest: string, trustFileText: string | undefined): boolean {
  const digests = parseTrustFile(trustFileText);
  return Object.hasOwn(digests, path) && digests[path] === digest;
}

/** Adds a file; returns the trust file's new text. Throws `bad_trust_file`. */
export function withTrust(trustFileText: string | undefined, path: string, digest: string): string {
  return formatTrustFile({ ...parseTrustFile(trustFileText), [path]: digest });
}

/** Removes a file; returns the trust file's new text. Throws `bad_trust_file`. */
export function withoutTrust(trustFileText: string | undefined, path: string): string {
  const { [path]: _removed, ...digests } = parseTrustFile(trustFileText);
  return formatTrustFile(digests);
}

function formatTrustFile(digests: TrustedDigests): string {
  const trusted = Object.fromEntries(Object.entries(digests).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify({ format: FORMAT, trusted }, null, 2)}\n`;
}

function parseTrustFile(text: string | undefined): TrustedDigests {
  if (text === undefined || text.trim() === "") return {};
  const file = parseJson(text, trustFile);
  if (file === null) {
    throw new JpgError(
      "config",
      "bad_trust_file",
      `The trust file cannot be read: expected format ${FORMAT} with a digest for each path.`,
      {
        hints: ["Remove jpg/trust.json from your state folder, then run `jpg trust` again in the projects you trust."],
      },
    );
  }
  return file.trusted;
}

/** Name of a project's config file, at the top of the project. */
export const PROJECT_CONFIG_NAME = ".jpg.toml";

/** The user's own places, absolute. */
export interface UserPaths {
  readonly configFile: string;
  /** Format plug-ins. */
  readonly formatsDir: string;
  /** Trust and other state of this machine. */
  readonly stateDir: string;
  readonly trustFile: string;
  readonly dataDir: string;
  /** Can be recreated. */
  readonly cacheDir: string;
  /** The store used outside any project. */
  readonly storeDir: string;
}

/** Resolves the user's places. */
export function resolveUserPaths(user: UserHome): UserPaths {
  const stateDir = userFolder("state", user);
  const dataDir = userFolder("data", user);
  const configDir = userFolder("config", user);
  return {
    configFile: join(configDir, "config.toml"),
    formatsDir: join(configDir, "formats"),
    stateDir,
    trustFile: join(stateDir, "trust.json"),
    dataDir,
    cacheDir: userFolder("cache", user),
    storeDir: join(dataDir, "store"),
  };
}
