// Updates an open page when its conversation was continued: loads and replaces what changed, adds new turns at the end as a gap,
// and keeps what the reader sees where it is.
import { fillIn } from "./commands.ts";
import { all, make, one, readHtml } from "./dom.ts";
import { addGap, fill } from "./parts.ts";
import { isChanged, swap } from "./swap.ts";
import { drawTimeline } from "./timeline.ts";

/** Turns that the server draws at once. */
const AT_ONCE = 25;
/** Rows that a turn is taken to have before it is there. */
const ROWS = 4;

/** Applies changes and describes them in words; null if the page must be reloaded. */
export async function applyUpdate(): Promise<string | null> {
  const turns = one("#turns");
  if (turns === null) return null;
  const without = new URL(location.href).searchParams.get("without");
  const answer = await fetch(
    `${location.pathname}${without === null ? "" : `?without=${encodeURIComponent(without)}`}`,
  );
  const page = readHtml(await answer.text());
  const now = page.querySelector<HTMLElement>("#turns");
  const [before, after] = [countOf(turns), countOf(now)];
  if (!answer.ok || now === null || after < before) return null;
  const fresh = await askTurns(now.dataset["parts"] ?? "");
  // From here on gaps load the new content.
  Object.assign(turns.dataset, { commit: now.dataset["commit"], count: String(after), parts: now.dataset["parts"] });
  for (const [old, section] of fresh) await loadHeldRows(old, section);
  const anchor = firstInSight();
  const changed = swapLiveSections(page);
  for (const [old, section] of fresh) if (old.isConnected) swap(old, section);
  updateForms(page);
  for (let from = before; from < after; from += AT_ONCE) addTurns(turns, from, Math.min(from + AT_ONCE, after) - 1);
  if (anchor !== null) stay(anchor);
  const came = after - before;
  const words = [...(came === 0 ? [] : [`${came} ${came === 1 ? "turn" : "turns"} came in`]), ...changed];
  return words.length === 0 ? "The page is up to date." : `While you read: ${words.join(", ")}.`;
}

function countOf(turns: HTMLElement | null): number {
  return Number(turns?.dataset["count"]);
}

/** The turns on the page that are drawn otherwise now, each with what it is now. */
async function askTurns(parts: string): Promise<ReadonlyMap<HTMLElement, HTMLElement>> {
  const changed = new Map<HTMLElement, HTMLElement>();
  const sections = all("#turns > .turn");
  while (sections.length > 0) {
    const [first] = sections;
    const from = Number(first?.dataset["turn"]);
    const run = sections.filter(({ dataset }, at) => at < AT_ONCE && Number(dataset["turn"]) === from + at);
    sections.splice(0, run.length);
    const answer = await fetch(partAddress(parts, from, from + run.length - 1));
    if (!answer.ok) throw new Error(String(answer.status));
    const fresh = readHtml(await answer.text());
    for (const old of run) {
      const section = fresh.getElementById(old.id);
      if (section !== null && isChanged(old, section)) changed.set(old, section);
    }
  }
  return changed;
}

function partAddress(parts: string, from: number, to: number): string {
  const address = new URL(parts, location.href);
  address.searchParams.set("from", String(from));
  address.searchParams.set("to", String(to));
  return `${address.pathname}${address.search}`;
}

/** Loads the rows that the reader holds open or sees: of a long turn the server sends only the first ones. */
async function loadHeldRows(old: HTMLElement, section: HTMLElement): Promise<void> {
  const held = all(".row[id]", old).filter(
    (row) =>
      row.matches(".here") || row.contains(document.activeElement) || row.querySelector("details[open]") !== null,
  );
  const sight = firstInSight();
  if (sight !== null && old.contains(sight)) held.push(sight);
  const isMissing = ({ id }: HTMLElement): boolean =>
    id !== old.id && section.querySelector(`[id="${CSS.escape(id)}"]`) === null;
  while (held.some(isMissing)) {
    const gap = section.querySelector<HTMLElement>(".gap");
    if (gap === null) return;
    await fill(gap);
    if (gap.parentElement !== null) return;
  }
}

/** Replaces changed sections about the whole conversation. Returns the changes to mention. */
function swapLiveSections(page: Document): readonly string[] {
  const changed: string[] = [];
  for (const old of all("[data-live]")) {
    const name = old.dataset["live"] ?? "";
    const fresh = page.querySelector<HTMLElement>(`[data-live="${name}"]`);
    if (fresh === null || !isChanged(old, fresh)) continue;
    const chosen = old.querySelector("#dry-run");
    swap(old, fresh);
    if (name === "timeline") drawTimeline();
    if (chosen !== null) fresh.querySelector("#timeline")?.append(chosen);
    if (name === "compactions" || name === "comments") changed.push(`${name} changed`);
  }
  return changed;
}

/** What forms offer follows the conversation; what somebody wrote in them stays. */
function updateForms(page: Document): void {
  for (const form of all(".actions form, #say") as HTMLFormElement[]) {
    const other = page.querySelector(
      form.id === "say" ? "#say" : `.actions form[action="${CSS.escape(form.getAttribute("action") ?? "")}"]`,
    );
    for (const field of all("input", form) as HTMLInputElement[]) {
      const fresh = other?.querySelector<HTMLInputElement>(`[name="${field.name}"]`);
      if (fresh == null) continue;
      const isOwn = field.value !== field.defaultValue || field === document.activeElement;
      field.max = fresh.max;
      if (!isOwn) field.defaultValue = fresh.defaultValue;
    }
    fillIn(form);
  }
}

function addTurns(turns: HTMLElement, from: number, to: number): void {
  const part = partAddress(turns.dataset["parts"] ?? "", from, to);
  const link = make("a", { href: `${location.pathname}?at=${from}#turn-${from}` }, `Turns ${from} to ${to}`);
  const data = { "data-from": String(from), "data-to": String(to), "data-rows": String((to - from + 1) * ROWS) };
  const gap = make("p", { class: "gap", ...data, "data-part": part }, link);
  turns.append(gap);
  addGap(gap);
}

/** Where the reader is: below the bar at the top. */
let sightTop = 0;
function firstInSight(): HTMLElement | null {
  const bar = one(".bar")?.getBoundingClientRect().bottom ?? 0;
  const found = all(".row[id], .turn[id]").find((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > Math.max(0, bar) && top < innerHeight && (element.matches(".row") || top >= 0);
  });
  sightTop = found?.getBoundingClientRect().top ?? 0;
  return scrollY === 0 ? null : (found ?? null);
}

function stay({ id }: HTMLElement): void {
  const moved = (document.getElementById(id)?.getBoundingClientRect().top ?? sightTop) - sightTop;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
}
