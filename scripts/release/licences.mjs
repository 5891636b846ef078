// The licence texts that a bundle must carry: of exactly the packages whose code it holds.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
/** What a package without such a file may say at the top of its code. */
const IN_CODE = /^(?:\/\/.*\n)+/;

/**
 * Renders the licences of packages as one text. `modules` = files of theirs, as paths from `root`. Throws when a package has no
 * licence text.
 */
export function renderLicences(root, modules) {
  const parts = [...filesOfPackages(modules)].map(([folder, files]) => renderPackage(root, folder, files));
  const lacking = parts.filter(({ text }) => text === null).map(({ name }) => name);
  if (lacking.length > 0) throw new Error(`No licence text was found of: ${lacking.join(", ")}.`);
  const intro = "jpg holds code of these packages, under their own licences.";
  return `${[intro, ...new Set(parts.map(({ text }) => text))].join(`\n\n${"=".repeat(78)}\n`)}\n`;
}

/** The folders of packages, and the files in them. */
function filesOfPackages(modules) {
  const found = new Map();
  for (const path of modules) {
    const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path.replaceAll("\\", "/"))?.[0];
    if (folder === undefined) throw new Error(`${path} is in no package.`);
    found.set(folder, [...(found.get(folder) ?? []), path]);
  }
  return found;
}

function renderPackage(root, folder, files) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const own = readdirSync(join(root, folder)).filter((file) => LICENCE_FILE.test(file));
  const texts = own.map((file) => readFileSync(join(root, folder, file), "utf8"));
  if (texts.length === 0) texts.push(...withoutFile(root, license, files));
  if (texts.length === 0) return { name, text: null };
  const by = typeof author === "string" ? author : author?.name;
  const head = `${name} ${version} (${license})${by === undefined ? "" : `, by ${by}`}`;
  return { name, text: [head, ...texts].map((text) => text.trim()).join("\n\n") };
}

/** Of a package that has no file for it: what its code begins with, or, for Apache 2.0, which names nobody, the text that jpg has itself. */
function withoutFile(root, license, files) {
  const heads = files.map((path) => IN_CODE.exec(readFileSync(join(root, path), "utf8"))?.[0] ?? "");
  const texts = [...new Set(heads.filter((head) => /permission|redistribution/i.test(head)))];
  if (texts.length > 0) return texts.map((text) => text.replace(/^\/\/ ?/gm, ""));
  const apache = join(root, "LICENSE");
  return license === "Apache-2.0" && existsSync(apache) ? [readFileSync(apache, "utf8")] : [];
}
