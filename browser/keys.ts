// Keys: from turn to turn, from change to change, to what is folded. They count where nothing is typed.
import { all, isShown, make, one } from "./dom.ts";
import { fill } from "./parts.ts";

const KEYS: Readonly<Record<string, readonly [what: string, act: () => unknown]>> = {
  j: ["next turn", () => step(".turn, .list tbody tr", ".gap[data-from]", 1)],
  k: ["previous turn", () => step(".turn, .list tbody tr", ".gap[data-from]", -1)],
  "]": ["next change by a compaction", () => step(CHANGES, ".gap[data-changed]", 1)],
  "[": ["previous change", () => step(CHANGES, ".gap[data-changed]", -1)],
  o: ["open or fold this turn, or this row", fold],
  "/": ["find", () => one("input[type=search]")?.focus()],
  "?": ["these keys", help],
};
const CHANGES = ".row:is(.hidden, .changed, .inserted)";
/** Space that the bar at the top takes, pixels. */
const BAR = 64;

/** Begins to take keys. */
export function handleKeys(): void {
  document.addEventListener("keydown", (event) => {
    const isTyped =
      event.target instanceof HTMLElement &&
      event.target.closest("input:not([type=radio], [type=checkbox]), select, textarea, dialog") !== null;
    if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = KEYS[event.key]?.[1];
    if (act === undefined) return;
    event.preventDefault();
    void act();
  });
}

/** Moves to the next or previous of some elements: from the one that has the focus, else from where the page is. A gap is filled first. */
async function step(selector: string, gaps: string, by: 1 | -1): Promise<void> {
  const places = all(`${selector}, ${gaps}`).filter(isShown);
  const target = places[placeAfter(places, by)];
  if (target === undefined) return;
  if (!target.matches(".gap")) return focus(target);
  const [before, after] = [target.previousElementSibling, target.nextElementSibling];
  await fill(target);
  const came = all(selector).filter(
    (element) => isAfter(element, before) && (after === null || isAfter(after, element)) && isShown(element),
  );
  const found = by > 0 ? came[0] : came.at(-1);
  if (found !== undefined) focus(found);
}

function isAfter(element: Element, other: Element | null): boolean {
  return other === null || (other.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}

function focus(target: HTMLElement): void {
  target.scrollIntoView({ block: "start" });
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

function placeAfter(places: readonly HTMLElement[], by: 1 | -1): number {
  const focused = places.findIndex((element) => element.contains(document.activeElement));
  // After scrolling, the reader means what is in sight.
  const held = places[focused];
  if (held !== undefined && isInSight(held)) return focused + by;
  const tops = places.map((element) => element.getBoundingClientRect().top);
  return by > 0 ? tops.findIndex((top) => top > BAR + 8) : tops.findLastIndex((top) => top < BAR - 8);
}

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function fold(): void {
  const around = document.activeElement?.closest(".row, .turn") ?? document;
  const folded = [...around.querySelectorAll<HTMLDetailsElement>("details:not(.say)")];
  const isOpen = folded.some((element) => !element.open);
  for (const element of folded) element.open = isOpen;
}

function help(): void {
  const old = one("dialog.keys");
  if (old instanceof HTMLDialogElement) {
    old.showModal();
    return;
  }
  const rows = Object.entries(KEYS).flatMap(([key, [what]]) => [
    make("dt", {}, make("kbd", {}, key)),
    make("dd", {}, what),
  ]);
  const close = make("button", {}, "Close");
  const dialog = make(
    "dialog",
    { class: "keys", "aria-label": "Keys" },
    make("h2", {}, "Keys"),
    make("dl", {}, ...rows),
    close,
  );
  close.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
