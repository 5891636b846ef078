// Takes the pictures of pages that README and the guide show, docs/assets/page-*.png (`npm run screenshots`): the bundled sample
// session, served, light and dark. Needs Chromium; `-- FOLDER` puts them elsewhere.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { addressOf } from "./served-address.mjs";
import { buildIfMissing, openStage, run } from "./tour-shell.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const SAMPLE = readFileSync(join(ROOT, "examples/sample-session.jsonl"), "utf8");
const SESSION = "7d1f0c52-4b8e-4a63-9c27-51e0a4d9b3f6";
const SIZE = { width: 1280, height: 900 };
/** Shorter conversations beside the sample: lines of it, and a title. */
const OTHERS = [
  [60, "Reading buoys over a flaky link"],
  [140, "Chart datum: which zero do we mean?"],
  [230, "Streaming CSV, second try"],
];

const folder = resolve(process.argv[2] ?? join(ROOT, "docs/assets"));
mkdirSync(folder, { recursive: true });
buildIfMissing();
const stage = openStage();
try {
  fillStore();
  await takePictures();
} finally {
  stage.close();
}

function fillStore() {
  run(stage, ["git", "init", "--quiet"]);
  for (const [at, [lines, title]] of OTHERS.entries()) {
    const id = `${SESSION.slice(0, -1)}${at}`;
    importLines(SAMPLE.split("\n").slice(0, lines).join("\n").replaceAll(SESSION, id), `other-${at}.jsonl`);
    run(stage, ["jpg", "title", "@", title]);
  }
  run(stage, ["jpg", "compact", "--strategy", "strip-tools"]);
  importLines(SAMPLE, "sample.jsonl");
  run(stage, ["jpg", "label", "@", "importer"]);
  run(stage, ["jpg", "fork", "@", "everything", "--no-activate"]);
  run(stage, ["jpg", "compact", "--from", "16", "--keep", "4", "--strategy", "strip-tools"]);
}

function importLines(text, name) {
  writeFileSync(join(stage.project, name), `${text.trimEnd()}\n`);
  run(stage, ["jpg", "import", name]);
}

async function takePictures() {
  const server = spawn(process.execPath, [join(ROOT, "bin/jpg.js"), "serve", "--json"], {
    cwd: stage.project,
    env: stage.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const context = await browser.newContext({ deviceScaleFactor: 1 });
    const page = await context.newPage();
    await page.goto(await addressOf(server));
    await page.getByRole("link", { name: "Make tidepool" }).first().click();
    const conversation = page.url();
    await page.setViewportSize(SIZE);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const save = (name) => page.screenshot({ path: join(folder, `page-${name}-${colorScheme}.png`) });
      await page.goto(conversation);
      await page.locator("#timeline.drawn").waitFor();
      await save("conversation");
      await page.goto(`${conversation}?at=18#turn-18`);
      await page.locator("#turn-18:focus").waitFor();
      await page.keyboard.press("o");
      await page.waitForTimeout(1500);
      await save("turn");
    }
  } finally {
    await browser.close();
    server.kill();
    await once(server, "exit");
  }
}
