// Joins chunks that are loaded together. Code splitting makes a chunk for each set of entries that share a module: a query
// would load sixty files, and a file costs node about a millisecond, whatever its size.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { build } from "esbuild";

/**
 * Joins, for each group, the chunks that its modules import statically into one file beside them, named after the group; a
 * chunk that two groups need is in the first. All other files of the build are written anew, importing from the joined ones,
 * also where they import while they run; what is imported so is seen as it was then, without later changes of its variables.
 * `outdir` is absolute; `outputs` is the metafile's of the build that wrote it, with paths that start at `root`; `groups` are
 * `{name, modules}`, each module a dynamically imported one; `options` are esbuild's for all files.
 */
export async function joinChunks({ root, outdir, outputs, groups, options }) {
  const joined = new Map();
  const folder = dirname(join(root, closureOf(outputs, groups[0].modules)[0]));
  const shared = { ...options, absWorkingDir: root, bundle: true };
  for (const { name, modules } of groups) {
    const chunks = closureOf(outputs, modules).filter((path) => !joined.has(basename(path)));
    const parts = chunks.map((path, i) => ({
      file: basename(path),
      target: `${name}.js`,
      names: outputs[path].exports.map((exported) => [exported, `${exported}_${i}`]),
    }));
    const contents = parts.map(({ file, names }) => `export ${list(names)} from "./${file}";`).join("\n");
    await build({
      ...shared,
      stdin: { contents, resolveDir: folder, loader: "js" },
      outfile: join(folder, `${name}.js`),
      plugins: [directImports(joined, new Set(parts.map(({ file }) => file)))],
    });
    for (const part of parts) joined.set(part.file, part);
  }
  const others = Object.keys(outputs).filter((path) => !joined.has(basename(path)));
  await build({
    ...shared,
    entryPoints: others.map((path) => ({ in: path, out: relative(outdir, join(root, path)).replace(/\.js$/, "") })),
    outdir,
    allowOverwrite: true,
    plugins: [directImports(joined, new Set())],
  });
  for (const part of joined.values()) rmSync(join(folder, part.file));
  const written = [...groups.map(({ name }) => join(folder, `${name}.js`)), ...others.map((path) => join(root, path))];
  for (const path of written) {
    const text = readFileSync(path, "utf8");
    const direct = text.replace(/\bimport\("([^"]+)"\)/g, (call, target) => {
      const part = joined.get(basename(target));
      return part === undefined ? call : importOf(part, dirname(target));
    });
    if (direct !== text) writeFileSync(path, direct);
  }
}

/** The dynamic import of what was a chunk of its own: the joined file, seen under the chunk's names. */
function importOf({ target, names }, folder) {
  const seen = names.map(([name, alias]) => `${JSON.stringify(name)}: all.${alias}`).join(", ");
  return `import("${folder}/${target}").then((all) => ({ ${seen} }))`;
}

/** Chunks that the modules load: their own and, statically, those below; each once, in the order in which they are found. */
function closureOf(outputs, modules) {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind, external } of outputs[path].imports) {
      if (kind === "import-statement" && external !== true) visit(next);
    }
  };
  for (const module of modules) {
    const path = Object.keys(outputs).find((key) => outputs[key].entryPoint === module);
    if (path === undefined) throw new Error(`${module} is no entry of the build: nothing imports it dynamically`);
    visit(path);
  }
  return [...found];
}

/** Imports of joined chunks come from the joined files, those of `included` are bundled, all others stay as they are. */
function directImports(joined, included) {
  return {
    name: "direct-imports",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, kind }) => {
        if (kind === "entry-point") return null;
        const isStatic = kind === "import-statement";
        if (isStatic && joined.has(basename(path))) return { path, namespace: "joined" };
        return isStatic && included.has(basename(path)) ? null : { path, external: true };
      });
      onResolve({ filter: /./, namespace: "joined" }, ({ path }) => ({ path, external: true }));
      onLoad({ filter: /./, namespace: "joined" }, ({ path }) => ({
        contents: reExport(joined.get(basename(path)), dirname(path)),
        loader: "js",
      }));
    },
  };
}

function reExport({ target, names }, folder) {
  return `export ${list(names.map(([name, alias]) => [alias, name]))} from "${folder}/${target}";\n`;
}

function list(pairs) {
  return `{ ${pairs.map(([from, to]) => `${from} as ${to}`).join(", ")} }`;
}
