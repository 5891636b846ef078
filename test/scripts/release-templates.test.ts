// The files for other ways of installing, filled from archives that are made here; install.sh is run against a server of this machine.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { packedManifest } from "../../scripts/release/package.mjs";
// @ts-expect-error: a script without types
import { fillTemplates } from "../../scripts/release/templates.mjs";
import { createTempFolder, type TempFolder, writeText } from "../helpers/temp-repository.ts";
import { placeInstalled, runIn } from "../helpers/try-installed.ts";

const REPOSITORY = "https://git.example/ada/jpg";
const LINUX = "jpg-1.2.3-linux-x64";

interface Filled {
  readonly written: readonly string[];
  readonly lacking: readonly { readonly name: string; readonly missing: string }[];
}

let folder: TempFolder;
let out: string;
beforeEach(() => {
  folder = createTempFolder();
  out = join(folder.path, "release");
  writeText(join(out, LINUX, "jpg"), "#!/bin/sh\necho 1.2.3\n");
  writeText(join(out, LINUX, "man/jpg.1"), ".TH JPG 1\n");
  execFileSync("tar", ["-czf", join(out, `${LINUX}.tar.gz`), "-C", out, LINUX]);
  writeText(join(out, "jpg-cli-1.2.3.tgz"), "the package");
});
afterEach(() => folder.remove());

const fill = (repository = REPOSITORY): Filled => fillTemplates({ out, version: "1.2.3", repository }) as Filled;
const filled = (name: string): string => readFileSync(join(out, "templates", name), "utf8");
const sha256 = (name: string): string =>
  createHash("sha256")
    .update(readFileSync(join(out, name)))
    .digest("hex");

describe("the templates", () => {
  it("are filled with the addresses, and the sums of the files that were made", () => {
    writeText(join(out, "jpg-1.2.3-win-x64.zip"), "for Windows");
    expect(fill().lacking).toEqual([]);
    expect(filled("jpg.rb")).toContain(`sha256 "${sha256("jpg-cli-1.2.3.tgz")}"`);
    expect(filled("jpg.rb")).toContain(`url "${REPOSITORY}/releases/download/v1.2.3/jpg-cli-1.2.3.tgz"`);
    expect(JSON.parse(filled("scoop.json"))).toMatchObject({
      version: "1.2.3",
      homepage: REPOSITORY,
      architecture: { "64bit": { hash: sha256("jpg-1.2.3-win-x64.zip") } },
    });
    expect(filled("winget.installer.yaml")).toContain(`InstallerSha256: ${sha256("jpg-1.2.3-win-x64.zip")}\n`);
    for (const name of readdirSync(join(out, "templates"))) expect(filled(name)).not.toContain("{{");
  });

  it("are left out, by name, where their archive was not made; one of an earlier run goes", () => {
    writeText(join(out, "jpg-1.2.3-win-x64.zip"), "for Windows");
    fill();
    rmSync(join(out, "jpg-1.2.3-win-x64.zip"));
    const missing = "jpg-1.2.3-win-x64.zip";
    expect(fill().lacking).toEqual([
      { name: "scoop.json", missing },
      { name: "winget.installer.yaml", missing },
      { name: "winget.locale.en-US.yaml", missing },
      { name: "winget.yaml", missing },
    ]);
    expect(readdirSync(join(out, "templates")).sort()).toEqual(["install.sh", "jpg.rb", "server.json"]);
  });

  it("fail without the repository's address, before anything is written", () => {
    expect(() => fill("")).toThrow("The address of the repository is not known");
    expect(existsSync(join(out, "templates"))).toBe(false);
  });
});

describe("server.json, for the MCP registry", () => {
  const schema = JSON.parse(
    readFileSync(new URL("../fixtures/mcp-server.schema.json", import.meta.url), "utf8"),
  ) as object;
  const accepts = new Ajv2020().compile(schema);
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Record<
    string,
    unknown
  >;

  it.each([
    [REPOSITORY, "example.git/jpg"],
    ["https://github.com/ada/jpg", "io.github.ada/jpg"],
  ])(
    "is what the registry takes, under a name that the owner of %s proves and the package repeats",
    (address, name) => {
      fill(address);
      const server = JSON.parse(filled("server.json")) as Record<string, unknown>;
      expect([accepts(server), accepts.errors]).toEqual([true, null]);
      expect(server).toMatchObject({ name, version: "1.2.3", packages: [{ version: "1.2.3" }] });
      expect(packedManifest(manifest, address)).toMatchObject({ mcpName: name });
      expect(packedManifest(manifest, "")).not.toHaveProperty("mcpName");
    },
  );

  it.each([
    ["a range", { version: "^1.2.3" }],
    ["a name without an owner", { name: "jpg" }],
    ["a long description", { description: "x".repeat(101) }],
    ["a package without a transport", { packages: [{ registryType: "npm", identifier: "jpg-cli", version: "1.2.3" }] }],
    ["no package", { packages: [] }],
  ])("would be refused with %s", (_, change) => {
    fill();
    expect(accepts({ ...(JSON.parse(filled("server.json")) as object), ...change })).toBe(false);
  });

  it("names a package that npx starts: its bin has the package's name", () => {
    fill();
    const [{ identifier }] = (JSON.parse(filled("server.json")) as { packages: [{ identifier: string }] }).packages;
    expect(manifest["name"]).toBe(identifier);
    // Of several bins npx takes the one with the name of the package, and refuses the package if there is none.
    expect(manifest["bin"]).toHaveProperty(identifier, "bin/jpg.js");
  });
});

describe.runIf(`${process.platform}-${process.arch}` === "linux-x64")("install.sh", () => {
  let server: Server;
  let address: string;
  beforeEach(async () => {
    server = createServer(({ url = "" }, response) => {
      const path = join(out, url);
      if (existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    fill();
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function install(env: Record<string, string> = {}) {
    const place = placeInstalled(folder.path, "sh", process.env["PATH"] ?? "");
    const bin = join(place.env["HOME"] ?? "", ".local/bin");
    const withFrom = { ...place, env: { ...place.env, JPG_DOWNLOADS: address, ...env } };
    const ran = await runIn(withFrom, [join(out, "templates/install.sh")]);
    return { ran, bin };
  }

  it("installs jpg, git-jpg and their manual in ~/.local, and says where", async () => {
    const { ran, bin } = await install();
    const stdout = `jpg 1.2.3 is installed: ${bin}/jpg\nPut ${bin} on your PATH to start it as jpg.\n`;
    expect(ran).toEqual({ code: 0, stdout, stderr: "" });
    expect(readdirSync(bin).sort()).toEqual(["git-jpg", "jpg"]);
    expect(lstatSync(join(bin, "git-jpg")).isSymbolicLink()).toBe(true);
    expect(execFileSync(join(bin, "git-jpg")).toString()).toBe("1.2.3\n");
    expect(readdirSync(join(bin, "../share/man/man1"))).toEqual(["jpg.1"]);
  });

  it("replaces an older jpg where JPG_BIN says, also in a folder with a space in its name", async () => {
    const bin = join(folder.path, "my programs");
    writeText(join(bin, "jpg"), "older");
    const { ran } = await install({ JPG_BIN: bin, PATH: `${bin}:${process.env["PATH"] ?? ""}` });
    expect(ran).toEqual({ code: 0, stdout: `jpg 1.2.3 is installed: ${bin}/jpg\n`, stderr: "" });
    expect(execFileSync(join(bin, "jpg")).toString()).toBe("1.2.3\n");
  });

  it("refuses what has another checksum, and installs nothing", async () => {
    appendFileSync(join(out, `${LINUX}.tar.gz`), "x");
    const { ran, bin } = await install();
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`its SHA-256 is ${sha256(`${LINUX}.tar.gz`)}, not `);
    expect(ran.stderr).toContain("Nothing was installed.");
    expect(existsSync(bin)).toBe(false);
  });

  it("says when the file is not there", async () => {
    rmSync(join(out, `${LINUX}.tar.gz`));
    const { ran, bin } = await install();
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain(`${address}/${LINUX}.tar.gz could not be fetched.`);
    expect(existsSync(bin)).toBe(false);
  });

  it("names npm where there is no program for the system", async () => {
    const tools = join(folder.path, "tools");
    writeText(join(tools, "uname"), '#!/bin/sh\n[ "$1" = -s ] && echo Darwin || echo arm64\n');
    execFileSync("chmod", ["755", join(tools, "uname")]);
    const { ran } = await install({ PATH: `${tools}:${process.env["PATH"] ?? ""}` });
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("no program of jpg for Darwin on arm64");
    expect(ran.stderr).toContain("npm i -g jpg-cli");
  });
});
