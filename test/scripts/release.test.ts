// What `npm run release` writes besides the bundles: the licences of what they hold, the manifest, the addresses.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { renderLicences } from "../../scripts/release/licences.mjs";
// @ts-expect-error: a script without types
import { packedManifest } from "../../scripts/release/package.mjs";
// @ts-expect-error: a script without types
import { addressesOf } from "../../scripts/release/project.mjs";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MIT = "Permission is hereby granted, free of charge";

describe("the licences of a bundle", () => {
  let folder: TempFolder;
  beforeEach(() => {
    folder = createTempFolder();
  });
  afterEach(() => folder.remove());

  /** Makes a package with these files, and gives the path of its code. */
  function addPackage(name: string, files: Record<string, string>, facts: Record<string, string> = {}): string {
    const at = `node_modules/${name}`;
    const manifest = JSON.stringify({ name, version: "1.2.3", license: "MIT", ...facts });
    writeText(join(folder.path, at, "package.json"), manifest);
    for (const [file, text] of Object.entries({ "lib/main.js": "run();\n", ...files })) {
      writeText(join(folder.path, at, file), text);
    }
    return `${at}/lib/main.js`;
  }
  const licences = (paths: readonly string[]): string => renderLicences(folder.path, paths) as string;

  it("are of the packages that it holds code of, and of no other that is installed", () => {
    addPackage("unused", { LICENSE: "Nobody reads this." });
    const used = addPackage("@tide/gauge", { "License.md": `Copyright Ada\n${MIT}`, NOTICE: "Made at the pier." });
    const nested = addPackage("used/node_modules/inner", { "LICENSE-MIT": "Inner's text." });
    const text = licences([used, used.replace("main", "other"), nested]);
    expect(text).toMatch(/@tide\/gauge 1\.2\.3 \(MIT\)\n\nCopyright Ada\nPermission.*\n\nMade at the pier\./);
    expect(text).toContain("Inner's text.");
    expect(text.split("@tide/gauge 1.2.3")).toHaveLength(2);
    expect(text).not.toContain("unused");
  });

  it("are what the code begins with, or Apache's own text, where a package has no file for them", () => {
    const head = `// Copyright (c) Ada\n//\n// ${MIT}\n\nrun(); // not this\n`;
    const inCode = addPackage("in-code", { "lib/main.js": head });
    const apache = addPackage("apache", {}, { license: "Apache-2.0" });
    writeText(join(folder.path, "LICENSE"), "Apache License, Version 2.0");
    const text = licences([inCode, apache]);
    expect(text).toContain(`Copyright (c) Ada\n\n${MIT}`);
    expect(text).not.toContain("not this");
    expect(text).toContain("apache 1.2.3 (Apache-2.0)\n\nApache License, Version 2.0");
  });

  it("fail when the text of one is nowhere", () => {
    const bare = addPackage("bare", { "README.md": "MIT", "lib/main.js": "// fast\nrun();\n" });
    const notes = addPackage("notes", { "licences-of-others.txt": "text" });
    expect(() => licences([bare, notes])).toThrow("No licence text was found of: bare, notes.");
  });

  it("fail for code that is in no package", () => {
    expect(() => licences(["vendor/tide.js"])).toThrow("vendor/tide.js is in no package.");
  });
});

describe("the manifest of the package", () => {
  const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Record<string, unknown>;

  it("has nothing to install, nothing to run, and may be published", () => {
    const packed = packedManifest(own) as Record<string, unknown>;
    expect(packed).toMatchObject({
      name: "jpg-cli",
      version: own["version"],
      bin: own["bin"],
      engines: own["engines"],
    });
    for (const key of ["dependencies", "devDependencies", "scripts", "private"]) expect(packed).not.toHaveProperty(key);
  });

  it("of the repository cannot be published by accident", () => {
    expect(own).toMatchObject({ name: "jpg-cli", private: true });
    expect(own["scripts"]).not.toHaveProperty("prepare");
  });

  it("has the addresses once the repository is known", () => {
    expect(packedManifest(own, "https://git.example/ada/jpg")).toMatchObject({
      repository: { type: "git", url: "git+https://git.example/ada/jpg.git" },
      bugs: { url: "https://git.example/ada/jpg/issues" },
      homepage: "https://git.example/ada/jpg#readme",
    });
    expect(packedManifest(own, "")).not.toHaveProperty("homepage");
  });

  it.each(["", "jpg", "http://git.example/ada/jpg", "https://git.example", "https://git.example/ada/jpg/"])(
    "refuses %j as the address",
    (address) => {
      expect(() => addressesOf(address) as unknown).toThrow("The address of the repository is not known");
    },
  );
});
