// A plugin of rolldown that bundles a package once more for some importers. What several entries share is in the bundle with all
// that any of them uses; a copy has only what its own importers use.
import { readFileSync } from "node:fs";

const SUFFIX = "?copy";
const isCopy = (id) => id.endsWith(SUFFIX);
const withoutSuffix = (id) => (isCopy(id) ? id.slice(0, -SUFFIX.length) : id);

/** `of` matches imports as they are written, `for` the absolute paths of the files whose imports get the copy. */
export function ownCopy({ of, for: importers }) {
  return {
    name: "own-copy",
    async resolveId(source, importer, options) {
      if (importer === undefined || (!isCopy(importer) && !(of.test(source) && importers.test(importer)))) return null;
      const resolved = await this.resolve(source, withoutSuffix(importer), { ...options, skipSelf: true });
      return resolved === null || resolved.external ? resolved : { ...resolved, id: `${resolved.id}${SUFFIX}` };
    },
    load: (id) => (isCopy(id) ? { code: readFileSync(withoutSuffix(id), "utf8"), moduleType: "js" } : null),
  };
}
