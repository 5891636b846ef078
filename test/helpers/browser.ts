// Chromium for tests of pages: what a page complains of, and what it asks for elsewhere, is collected. What a test opens is closed
// after it.
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "./prepared-sandbox.ts";
import type { Sandbox } from "./run-jpg.ts";
import { type ServedPages, servePagesOf } from "./served-pages.ts";

export const CHROMIUM = "/usr/bin/chromium";
/** Without these it tries to reach hosts of its makers. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** Has a page that stays open ask ten times a second what changed, and not every two seconds. */
const HASTENED = "{ const later = setTimeout; window.setTimeout = (run, ms) => later(run, ms === 2000 ? 100 : ms); }";

/** `isHastened` = it soon sees what changes in the store. */
type ShowOptions = NonNullable<Parameters<Browser["newContext"]>[0]> & { readonly isHastened?: boolean };

export interface ShownPage {
  readonly page: Page;
  /** Errors and warnings of its console, errors of its scripts. */
  readonly complaints: string[];
  /** Addresses that it asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** What the tests of a block open. */
export interface BrowserTests {
  /** Closes something after the test, what was opened last first. */
  closeAfter<Opened extends { close(): Promise<void> | void }>(opened: Opened): Opened;
  /** A sandbox with an imported conversation of some turns. */
  prepare(turns: number): Promise<ImportedSandbox>;
  /** Serves the pages of a sandbox; whoever opens the address first enters. */
  serve(sandbox: Pick<Sandbox, "project" | "env">): Promise<ServedPages>;
  /** Opens a page in a browser of its own. */
  show(address: string, options?: ShowOptions): Promise<ShownPage>;
  /** The same, in a browser that has entered, of a conversation; `path` = its address. */
  showConversation(
    sandbox: Pick<Sandbox, "project" | "env">,
    conversation: string,
    options?: ShowOptions,
  ): Promise<ShownPage & { readonly path: string; readonly pages: ServedPages }>;
}

/** Starts Chromium for the tests of a block. */
export function useBrowser(): BrowserTests {
  let browser: Browser;
  const open: { close(): Promise<void> | void }[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  afterAll(() => browser.close());
  const tests: BrowserTests = {
    closeAfter(opened) {
      open.push(opened);
      return opened;
    },
    async prepare(turns) {
      const sandbox = await copyImportedSandbox(turns);
      open.push({ close: sandbox.remove });
      return sandbox;
    },
    serve: async (sandbox) => tests.closeAfter(await servePagesOf(sandbox, { enter: false })),
    show: async (address, options = {}) => tests.closeAfter(await showPage(browser, address, options)),
    async showConversation(sandbox, conversation, options) {
      const pages = await tests.serve(sandbox);
      const path = `${pages.origin}/c/${encodeURIComponent(`${conversation}/main`)}`;
      return { ...(await tests.show(pages.address, options)), path, pages };
    },
  };
  return tests;
}

async function showPage(
  browser: Browser,
  address: string,
  { isHastened = false, ...options }: ShowOptions,
): Promise<ShownPage> {
  const context: BrowserContext = await browser.newContext(options);
  if (isHastened) await context.addInitScript(HASTENED);
  const page: Page = await context.newPage();
  const complaints: string[] = [];
  const asked: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(address);
  return { page, complaints, asked, close: () => context.close() };
}

/** Keys and clicks count once the page's script has run. */
export function isScripted(page: Page): Promise<void> {
  return page.locator("html.scripted").waitFor({ state: "attached" });
}

/**
 * What a checker of accessibility finds serious on a page, or worse. Pages have no frames of other sites and play nothing, and what
 * is in order is not told: it takes a third of the time then.
 */
export async function severeFindings(page: Page): Promise<readonly string[]> {
  const checker = new AxeBuilder({ page }).options({ resultTypes: ["violations"], preload: false });
  const { violations } = await checker.setLegacyMode(true).analyze();
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === "serious" || impact === "critical" ? [`${id}: ${nodes[0]?.html}`] : [],
  );
}
