// Chromium for tests of pages: what a page complains of, and what it asks for elsewhere, is collected.
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

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

/** Starts it; whoever does closes it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: QUIET });
}

export interface ShownPage {
  readonly page: Page;
  /** Errors and warnings of its console, errors of its scripts. */
  readonly complaints: string[];
  /** Addresses that it asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Opens a page in a browser of its own. */
export async function showPage(
  browser: Browser,
  address: string,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<ShownPage> {
  const context: BrowserContext = await browser.newContext(options);
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

/** What a checker of accessibility finds serious on a page, or worse. */
export async function severeFindings(page: Page): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === "serious" || impact === "critical" ? [`${id}: ${nodes[0]?.html}`] : [],
  );
}
