// Replaces a part of the page by a newer one, and keeps what the reader did there: what is open, what is typed, the focus. Compares
// parts as the server sent them, before the page's script changed them.
import { all } from "./dom.ts";
import { partArrived, partReplaced } from "./parts.ts";

/** What is compared as one: turns, and what is told of all of the conversation. */
const COMPARED = ".turn, [data-live]";
const drawn = new WeakMap<Element, number>();

/** Remembers how things of a part of the page were drawn. To be called before anything else looks at it. */
export function remember(part: Document | HTMLElement): void {
  if (part instanceof HTMLElement && part.matches(COMPARED)) drawn.set(part, signatureOf(part));
  for (const element of all(COMPARED, part)) drawn.set(element, signatureOf(element));
}

/** Whether the server draws it otherwise now; addresses of its parts name another commit each time. */
export function isChanged(old: Element, fresh: Element): boolean {
  return drawn.get(old) !== signatureOf(fresh);
}

function signatureOf(element: Element): number {
  const text = element.outerHTML.replace(/commit=[0-9a-f]{40}/g, "");
  let hash = 0;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}

/** Puts one in the place of another. */
export function swap(old: HTMLElement, fresh: HTMLElement): void {
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const open = new Set(all("details[open]", old).map(nameOf));
  const here = old.querySelector(".here")?.id ?? (old.matches(".here") ? old.id : "");
  document.adoptNode(fresh);
  remember(fresh);
  old.replaceWith(fresh);
  keepForms(old, fresh, focused);
  for (const fold of all("details", fresh)) if (open.has(nameOf(fold))) (fold as HTMLDetailsElement).open = true;
  if (here !== "") document.getElementById(here)?.classList.add("here");
  partReplaced(old, fresh);
  partArrived(fresh);
  if (focused instanceof HTMLElement) focusAgain(focused, old, fresh);
}

/** What is folded is known again by its place and its first line. */
function nameOf(fold: Element): string {
  return `${fold.closest("[id]")?.id} ${fold.querySelector("summary")?.textContent}`;
}

/** A form in which something was written, or is about to be, stays the one it is. */
function keepForms(old: HTMLElement, fresh: HTMLElement, focused: Element | null): void {
  for (const form of all("form", old) as HTMLFormElement[]) {
    if (!isWrittenIn(form) && !form.contains(focused)) continue;
    const other = all("form", fresh).find((one) => one.getAttribute("action") === form.getAttribute("action"));
    other?.replaceWith(form);
  }
}

function isWrittenIn(form: HTMLFormElement): boolean {
  return [...form.elements].some(
    (field) =>
      (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue,
  );
}

function focusAgain(focused: HTMLElement, old: HTMLElement, fresh: HTMLElement): void {
  const around = focused.closest<HTMLElement>("[id]");
  const same = around === old ? fresh : document.getElementById(around?.id ?? "");
  const target = focused.isConnected ? focused : focused.matches("summary") ? same?.querySelector("summary") : same;
  if (target == null) return;
  if (target === same) target.tabIndex = -1;
  target.focus({ preventScroll: true });
}
