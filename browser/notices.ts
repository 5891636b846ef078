// Notices on an open page: one at a time, visible from anywhere on the page.
import { all, make, one } from "./dom.ts";

/** Repeats the message of the last action, which is at the top, for a reader who is led further down. */
export function repeatSaid(): void {
  const said = all("#notices p").map(({ textContent }) => textContent);
  if (said.length > 0 && location.hash !== "") showNotice(said.join(" "));
}

/** Shows a notice instead of the previous one; `action` = a link after it. */
export function showNotice(text: string, action?: HTMLElement): void {
  one("#notices .told")?.remove();
  const close = make("button", { type: "button", "aria-label": "Close this message" }, "×");
  const told = make("p", { class: "told" }, `${text} `, ...(action === undefined ? [] : [action, " "]), close);
  close.addEventListener("click", () => told.remove());
  one("#notices")?.append(told);
}
