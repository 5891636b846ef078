// The package for npm: what `npm i -g jpg-cli` installs. One package, because the bundles hold what jpg uses of others.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderLicences } from "./licences.mjs";
import { addressesOf, REPOSITORY, serverName } from "./project.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** What the package may take on a disk. */
const MOST_BYTES = 12_000_000;
export const LICENCES = "THIRD-PARTY-LICENSES.txt";

/** Writes the package to `folder`, packs it beside that, and says what it is. */
export function makePackage(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const path of ownFiles()) copy(path, folder);
  runNode(["--import", "tsx", "scripts/generate-man-pages.mjs", join(folder, "man")]);
  const man = readdirSync(join(folder, "man")).map((name) => `./man/${name}`);
  const manifest = { ...packedManifest(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"))), man };
  writeJson(join(folder, "package.json"), manifest);
  writeFileSync(join(folder, LICENCES), renderLicences(ROOT, buildInto(join(folder, "dist"))));
  const packed = pack(folder, ["--pack-destination", dirname(folder)]);
  const bytes = packed.files.reduce((sum, { path }) => sum + bytesOnDisk(join(folder, path)), 0);
  if (bytes > MOST_BYTES) throw new Error(`The package takes ${bytes} bytes, more than ${MOST_BYTES}.`);
  return { tarball: join(dirname(folder), packed.filename), packed: packed.size, bytes, files: packed.files.length };
}

/** The manifest of the package: nothing to install beside it, nothing to run, and no mark against publishing. */
export function packedManifest(manifest, repository = REPOSITORY) {
  const { private: _, scripts, dependencies, devDependencies, ...kept } = manifest;
  const addresses = repository === "" ? {} : { ...addressesOf(repository), mcpName: serverName(repository) };
  return { ...kept, ...addresses, files: [...kept.files, LICENCES] };
}

/** Files of the package that are not built, as paths from the project's folder. */
function ownFiles() {
  const paths = pack(ROOT, ["--dry-run"]).files.map(({ path }) => path);
  return paths.filter((path) => path !== "package.json" && !path.startsWith("dist/"));
}

/** Builds into a folder, and gives the files of packages that the bundles hold. */
function buildInto(folder) {
  const scratch = mkdtempSync(join(tmpdir(), "jpg-release-"));
  try {
    const modules = join(scratch, "modules.json");
    runNode(["scripts/build.mjs", "--out", folder, "--modules", modules]);
    return JSON.parse(readFileSync(modules, "utf8"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function runNode(words) {
  execFileSync(process.execPath, words, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] });
}

/** What `npm pack` does, or would do. */
function pack(folder, words) {
  const all = ["pack", "--json", "--ignore-scripts", ...words];
  const text = execFileSync("npm", all, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const [packed] = JSON.parse(text);
  return packed;
}

function copy(path, folder) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  cpSync(join(ROOT, path), join(folder, path));
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

function bytesOnDisk(path) {
  const BLOCK = 4096;
  return Math.ceil(statSync(path).size / BLOCK) * BLOCK;
}
