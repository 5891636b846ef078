// `npm run release`: writes what users install to release/ (`--out DIR`): npm/, the package, and its tarball; with `--executable` the
// executable for this system, too (`--node DIR` takes Node 24 from a folder of npm's package in place of fetching it); with
// `--templates` the script and the files for other ways of installing, which need the repository's address.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makePackage } from "./release/package.mjs";
import { addressesOf, REPOSITORY } from "./release/project.mjs";
import { fillTemplates } from "./release/templates.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "release") },
    executable: { type: "boolean", default: false },
    node: { type: "string" },
    templates: { type: "boolean", default: false },
  },
});
const out = resolve(values.out);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

if (values.templates) addressesOf(REPOSITORY);
const made = makePackage(join(out, "npm"));
console.log(`${made.tarball}: ${megabytes(made.packed)}; ${made.files} files, ${megabytes(made.bytes)} on disk`);
if (values.executable) {
  const { makeExecutable } = await import("./release/executable.mjs");
  const { program, archive, bytes, packed } = await makeExecutable({
    from: join(out, "npm"),
    out,
    version,
    node: values.node,
  });
  console.log(`${program}: ${megabytes(bytes)}\n${archive}: ${megabytes(packed)}`);
}
if (values.templates) {
  const { written, lacking } = fillTemplates({ out, version, repository: REPOSITORY });
  for (const path of written) console.log(path);
  for (const { name, missing } of lacking) console.log(`not written: ${name}, because ${missing} was not made`);
}
