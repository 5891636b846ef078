// `npm run release`: writes what users install to release/ (`--out DIR`): npm/, the package, and its tarball.
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makePackage } from "./release/package.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const { values } = parseArgs({ options: { out: { type: "string", default: join(root, "release") } } });
const out = resolve(values.out);
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

const made = makePackage(join(out, "npm"));
console.log(`${made.tarball}: ${megabytes(made.packed)}; ${made.files} files, ${megabytes(made.bytes)} on disk`);
