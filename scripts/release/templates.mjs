// What other ways of installing need: a script, and files for Homebrew, Scoop, winget and the MCP registry, filled with version,
// addresses and SHA-256 of what the release made.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { addressesOf, serverName } from "./project.mjs";

const TEMPLATES = fileURLToPath(new URL("templates/", import.meta.url));

/**
 * Fills the templates from the files in `out`, into `out`/templates. Those whose archive was not made are left out: `lacking` has
 * their names and the archive. Throws when the repository has no address.
 */
export function fillTemplates({ out, version, repository }) {
  addressesOf(repository);
  const folder = join(out, "templates");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const downloads = `${repository}/releases/download/v${version}`;
  const result = { written: [], lacking: [] };
  for (const name of readdirSync(TEMPLATES).sort()) {
    const template = readFileSync(join(TEMPLATES, name), "utf8");
    const needed = [...template.matchAll(/\{\{SHA256:(.*?)\}\}/g)].map(([, what]) => archiveOf(what, version));
    const missing = needed.find((file) => !existsSync(join(out, file)));
    if (missing !== undefined) {
      result.lacking.push({ name, missing });
      continue;
    }
    const text = template.replace(/\{\{(VERSION|REPOSITORY|DOWNLOADS|MCP_NAME|SHA256:(.*?))\}\}/g, (_, what, file) => {
      if (file !== undefined) return sha256(join(out, archiveOf(file, version)));
      return { VERSION: version, REPOSITORY: repository, DOWNLOADS: downloads, MCP_NAME: serverName(repository) }[what];
    });
    writeFileSync(join(folder, name), text, { mode: name.endsWith(".sh") ? 0o755 : 0o644 });
    result.written.push(join(folder, name));
  }
  return result;
}

/** The file of a release that a template means by `linux-x64.tar.gz` or `jpg-cli.tgz`. */
function archiveOf(what, version) {
  return what === "jpg-cli.tgz" ? `jpg-cli-${version}.tgz` : `jpg-${version}-${what}`;
}

function sha256(path) {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}
