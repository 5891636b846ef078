// Gaps: parts of a conversation that are not on the page yet. Each is as high as what comes in its place will about be; it is
// asked for when it comes near, and what is far away again becomes a gap, so that a page of any length stays small.
import { all, readHtml } from "./dom.ts";
import { tell } from "./notices.ts";

/** How far from what is in sight parts are asked for. */
const NEAR = "1500px";
/** Height of a row, pixels: most are folded. */
const ROW_PX = 34;

const filled: ((element: HTMLElement) => void)[] = [];
const asked = new WeakMap<Element, Promise<void>>();

const nearby = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) void fill(target as HTMLElement);
  },
  { rootMargin: NEAR },
);

/** Watches the gaps of the page. `onFilled` is told of each part that came. */
export function watchGaps(onFilled: (element: HTMLElement) => void): void {
  filled.push(onFilled);
  prepare(document);
}

/** Fills the gap that holds a turn; true when the turn is on the page then. */
export async function bringTurn(turn: number): Promise<boolean> {
  const gap = all(".gap[data-from]").find(
    ({ dataset }) => Number(dataset["from"]) <= turn && turn <= Number(dataset["to"]),
  );
  if (gap !== undefined) await fill(gap);
  return document.getElementById(`turn-${turn}`) !== null;
}

/** Puts what a gap stands for in its place. */
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
    const answer = await fetch(gap.dataset["part"] ?? "");
    if (!answer.ok) throw new Error(String(answer.status));
    const parts = [...readHtml(await answer.text()).body.children] as HTMLElement[];
    gap.replaceWith(...parts);
    for (const part of parts) arrived(part);
  } catch {
    asked.delete(gap);
    tell("A part of this conversation could not be read: follow its link to try again.");
  }
}

/** Is told of a part that came onto the page in any other way. */
export function arrived(part: HTMLElement): void {
  prepare(part);
  for (const told of filled) told(part);
}

function prepare(within: ParentNode): void {
  for (const gap of all(".gap", within)) {
    gap.style.height = `${Number(gap.dataset["rows"]) * ROW_PX}px`;
    nearby.observe(gap);
  }
}
