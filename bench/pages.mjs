// What pages cost in a browser: one of 10,000 turns, served, from its first byte until it hears keys, and scrolled through; and the
// file that a session of 5 MB becomes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { addressOf } from "../scripts/served-address.mjs";
import { median } from "./measure.mjs";
import { createRow, createSkip, formatNumber, ms, skipWithoutCorpus } from "./row.mjs";
import { listSessions, writeLongSession, writeMadeSession } from "./sessions.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Measures pages. */
export async function benchPages(sandbox, { openings, turns, steps, fileBytes, leastBytes, corpus }) {
  const script = measureScript(sandbox);
  if (!existsSync(CHROMIUM)) return [script, createSkip("pages", "pages in Chromium", `no ${CHROMIUM}`)];
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ["--no-sandbox", "--disable-gpu"],
    timeout: 0,
  });
  try {
    return [
      script,
      ...(await measureServed(sandbox, browser, { openings, turns, steps })),
      ...(await measureFile(sandbox, browser, { fileBytes, leastBytes, corpus })),
    ];
  } finally {
    await browser.close();
  }
}

function measureScript({ dir }) {
  const script = readFileSync(join(dir, "jpg/dist/browser/page.js"));
  return createRow("pages-script", "script of pages, gzipped", {
    value: gzipSync(script, { level: 9 }).length / 1000,
    unit: "kB",
    limit: { atMost: 100 },
    detail: `${formatNumber(script.length / 1000)} kB`,
  });
}

async function measureServed(sandbox, browser, { openings, turns, steps }) {
  const session = sandbox.newPath("long.jsonl");
  writeMadeSession(session, turns);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["init", store]);
  await sandbox.jpg(["import", "--store", store, "--quiet", session]);
  const server = spawn(process.execPath, [sandbox.bin, "serve", "--json", "--store", store], {
    env: sandbox.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const page = await newPage(browser);
    await page.goto(await addressOf(server));
    const address = new URL(await page.locator(".list a").first().getAttribute("href"), page.url()).href;
    const cold = await open(page, address);
    const opened = [];
    for (let opening = 0; opening < openings; opening += 1) opened.push(await open(page, address));
    const interactive = median(opened.map((times) => times.interactive));
    const before = await rendererMemory(browser);
    await scrollThrough(page, steps);
    const scrolled = await rendererMemory(browser);
    await collectGarbage(page);
    const after = await rendererMemory(browser);
    return [
      createRow("pages-open", `page of ${turns} turns: first byte → it hears keys`, {
        value: interactive,
        unit: "ms",
        limit: { atMost: 1000 },
        detail: `request → first byte ${ms(cold.firstByte)}, then ${ms(median(opened.map((times) => times.firstByte)))}; ${formatNumber(opened[0].bytes / 1000)} kB of HTML`,
      }),
      createRow("pages-memory", "memory of its process, after the whole of it was scrolled through", {
        value: after,
        unit: "MB",
        limit: { atMost: 200 },
        detail: `${formatNumber(before)} MB before, ${formatNumber(scrolled)} MB with its garbage; ${await page.locator(".turn").count()} turns on the page`,
      }),
    ];
  } finally {
    server.kill();
    await once(server, "exit");
    for (const path of [store, session]) rmSync(path, { recursive: true });
  }
}

async function measureFile(sandbox, browser, { fileBytes, leastBytes, corpus }) {
  const name = `file of a session of ${fileBytes / 1e6} MB`;
  const sessions = listSessions(corpus);
  if (sessions === null) return [skipWithoutCorpus("pages-file", name, corpus)];
  const roundsOf = (path) => Math.ceil(fileBytes / statSync(path).size);
  const [path] = sessions
    .filter((one) => statSync(one).size >= leastBytes)
    .sort((a, b) => statSync(a).size * roundsOf(a) - statSync(b).size * roundsOf(b));
  const session = sandbox.newPath("five.jsonl");
  writeLongSession(path, session, fileBytes);
  const store = sandbox.newPath("store");
  await sandbox.jpg(["init", store]);
  await sandbox.jpg(["import", "--store", store, "--quiet", session]);
  const file = sandbox.newPath("page.html");
  await sandbox.jpg(["export", "--store", store, "--to", "html", "-o", file]);
  const page = await newPage(browser);
  const { interactive } = await open(page, `file://${file}`);
  const row = createRow("pages-file", name, {
    value: statSync(file).size / 1e6,
    unit: "MB",
    limit: { atMost: 2 },
    detail: `of ${formatNumber(statSync(session).size / 1e6)} MB; hears keys after ${ms(interactive)}, ${formatNumber(await rendererMemory(browser))} MB`,
  });
  await page.close();
  for (const made of [store, session, file]) rmSync(made, { recursive: true });
  return [row];
}

/** A page on which nothing is given up, however busy the machine is. */
async function newPage(browser) {
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  return page;
}

/** Opens a page anew. Gives its times in milliseconds. */
async function open(page, address) {
  await page.goto("about:blank");
  await page.goto(address);
  await page.locator("html.scripted").waitFor({ state: "attached" });
  return page.evaluate(() => {
    const [{ requestStart, responseStart, decodedBodySize }] = /** @type {any[]} */ (
      performance.getEntriesByType("navigation")
    );
    const [{ startTime }] = performance.getEntriesByName("jpg:ready");
    return { interactive: startTime - responseStart, firstByte: responseStart - requestStart, bytes: decodedBodySize };
  });
}

/** Goes down the page as somebody does who looks for something: parts come wherever one stops. */
async function scrollThrough(page, steps) {
  for (let step = 1; step <= steps; step += 1) {
    await page.evaluate((share) => scrollTo(0, document.documentElement.scrollHeight * share), step / steps);
    await page.waitForTimeout(100);
  }
  await page.waitForLoadState("networkidle");
}

async function collectGarbage(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  await session.detach();
}

/** Memory of the browser's largest renderer, MB: what it shares with other processes counts in part. */
async function rendererMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const renderers = processInfo.filter(({ type }) => type === "renderer");
  const sizes = renderers.map(({ id }) => /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${id}/smaps_rollup`, "utf8")));
  return Math.max(...sizes.map((found) => Number(found?.[1]) / 1000));
}
