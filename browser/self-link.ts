// A link to the row that the mouse or the keyboard is at: one for all of them, so that a page is no larger for it.
import { make } from "./dom.ts";

/** Begins to show it. */
export function showSelfLink(): void {
  const link = make("a", { class: "self", "aria-label": "Link to this event" }, "#");
  const place = ({ target }: globalThis.Event): void => {
    const row = target instanceof Element ? target.closest<HTMLElement>(".row[id]") : null;
    if (row === null || link.parentElement === row) return;
    link.href = `#${encodeURIComponent(row.id)}`;
    row.append(link);
  };
  document.addEventListener("pointerover", place);
  document.addEventListener("focusin", place);
}
