// A plugin of esbuild that bundles a package once more for some importers. What several entries share is in the bundle with all
// that any of them uses; a copy has only what its own importers use.
import { readFileSync } from "node:fs";

const SUFFIX = "?copy";

/** `of` matches imports as they are written, `for` the absolute paths of the files whose imports get the copy. */
export function ownCopy({ of, for: importers }) {
  return {
    name: "own-copy",
    setup({ resolve, onResolve, onLoad }) {
      onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
        const isWanted = pluginData === "inside" || (of.test(path) && importers.test(importer));
        if (!isWanted || pluginData === "resolving") return null;
        const resolved = await resolve(path, { importer, kind, resolveDir, pluginData: "resolving" });
        return resolved.external ? resolved : { ...resolved, suffix: SUFFIX };
      });
      onLoad({ filter: /./ }, ({ path, suffix }) =>
        suffix === SUFFIX ? { contents: readFileSync(path), loader: "default", pluginData: "inside" } : null,
      );
    },
  };
}
