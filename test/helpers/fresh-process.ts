// Test files share a process, and what a test starts may inherit from it. Each file begins with the same umask, and with no setting
// of the user or of the file before it: an empty HOME, quiet git (quiet.gitconfig), UTC, no variable that leads git or jpg.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HOME = Symbol.for("jpg.test.home");
const shared = globalThis as { [HOME]?: string };
if (shared[HOME] === undefined) {
  const home = mkdtempSync(join(tmpdir(), "jpg-home-"));
  process.once("exit", () => rmSync(home, { recursive: true, force: true }));
  shared[HOME] = home;
}

/** Variables by which a shell leads git, jpg, editors and colours; the tests' own (JPG_CORPUS and others) stay. */
const LEADING = /^(?:GIT_|XDG_|LC_|LANGUAGE$|JPG_(?:STORE|CONVERSATION|PAGER)$|EMAIL$|(?:GIT_)?EDITOR$|VISUAL$|PAGER$)/;

for (const name of Object.keys(process.env)) if (LEADING.test(name)) delete process.env[name];
Object.assign(process.env, {
  GIT_CONFIG_SYSTEM: fileURLToPath(new URL("quiet.gitconfig", import.meta.url)),
  GIT_CONFIG_GLOBAL: "/dev/null",
  HOME: shared[HOME],
  LANG: "C.UTF-8",
  TZ: "UTC",
});
process.umask(0o022);
