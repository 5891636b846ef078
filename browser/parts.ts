// Gaps: parts of a conversation that are not on the page yet, about as high as their content. A gap is loaded when it comes near,
// and far parts become gaps again, so that a page of any length stays small.
import { all, one, readHtml } from "./dom.ts";
import { showNotice } from "./notices.ts";

/** How far from what is in sight parts are asked for. */
const NEAR = "1500px";
/** Height of a row, pixels: most are folded. */
const ROW_PX = 34;
/** Parts that stay on the page; further ones, beyond `FAR` pixels, become gaps again. */
const MAX_LOADED_PARTS = 10;
const FAR = 5000;

const filled: ((element: HTMLElement) => void)[] = [];
const asked = new WeakMap<Element, Promise<void>>();
/** What came in place of gaps, oldest first. */
let came: { readonly gap: HTMLElement; readonly parts: HTMLElement[] }[] = [];

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) void fill(target as HTMLElement);
  },
  { rootMargin: NEAR },
);

/** Watches the gaps of the page. Calls `onFilled` for each part that was loaded. */
export function watchGaps(onFilled: (element: HTMLElement) => void): void {
  filled.push(onFilled);
  prepare(document);
}

/** Fills the gap that holds a turn; true when the turn is on the page then. */
export async function loadTurn(turn: number): Promise<boolean> {
  const gap = all(".gap[data-from]").find(
    ({ dataset }) => Number(dataset["from"]) <= turn && turn <= Number(dataset["to"]),
  );
  if (gap !== undefined) await fill(gap);
  return document.getElementById(`turn-${turn}`) !== null;
}

/** Replaces a gap by its parts. */
export function fill(gap: HTMLElement): Promise<void> {
  const known = asked.get(gap);
  if (known !== undefined) return known;
  const coming = ask(gap);
  asked.set(gap, coming);
  return coming;
}

async function ask(gap: HTMLElement): Promise<void> {
  nearby.unobserve(gap);
  try {
    // A conversation that was continued has its parts at a newer commit than those drawn before.
    const commit = one("#turns")?.dataset["commit"];
    const address = gap.dataset["part"] ?? "";
    const answer = await fetch(commit === undefined ? address : address.replace(/commit=\w+/, `commit=${commit}`));
    if (!answer.ok) throw new Error(String(answer.status));
    const parts = [...readHtml(await answer.text()).body.children] as HTMLElement[];
    gap.replaceWith(...parts);
    for (const part of parts) partArrived(part);
    came.push({ gap, parts });
    removeFarParts();
  } catch {
    asked.delete(gap);
    showNotice("A part of this conversation could not be loaded: follow its link to try again.");
  }
}

/** Prepares a part that was put on the page in another way. */
export function partArrived(part: HTMLElement): void {
  prepare(part);
  for (const listener of filled) listener(part);
}

/** Takes a gap that was put on the page by its script. */
export function addGap(gap: HTMLElement): void {
  gap.style.height = `${Number(gap.dataset["rows"]) * ROW_PX}px`;
  nearby.observe(gap);
}

/** Records that one part replaced another. */
export function partReplaced(old: HTMLElement, fresh: HTMLElement): void {
  for (const { parts } of came) if (parts.includes(old)) parts.splice(parts.indexOf(old), 1, fresh);
}

/** Replaces far parts that the reader does not hold open by gaps, until few enough are left. */
function removeFarParts(): void {
  came = came.filter(({ parts }) => parts.some((part) => part.isConnected));
  const many = came.length - MAX_LOADED_PARTS;
  if (many <= 0) return;
  const far = came.filter(({ parts }) => isFar(parts) && !parts.some(isHeld)).slice(0, many);
  for (const { gap, parts } of far) {
    const [top, bottom] = [
      parts[0]?.getBoundingClientRect().top ?? 0,
      parts.at(-1)?.getBoundingClientRect().bottom ?? 0,
    ];
    parts[0]?.before(gap);
    for (const part of parts) part.remove();
    gap.style.height = `${bottom - top}px`;
    asked.delete(gap);
    nearby.observe(gap);
  }
  came = came.filter((part) => !far.includes(part));
}

function isFar(parts: readonly HTMLElement[]): boolean {
  const [top, bottom] = [parts[0]?.getBoundingClientRect().top ?? 0, parts.at(-1)?.getBoundingClientRect().bottom ?? 0];
  return bottom < -FAR || top > innerHeight + FAR;
}

function isHeld(part: HTMLElement): boolean {
  return part.contains(document.activeElement) || part.querySelector("details[open], .here") !== null;
}

function prepare(within: ParentNode): void {
  for (const gap of all(".gap", within)) addGap(gap);
}
