// What a page is told while it is open, in its own place for that: one thing at a time, where it is seen from anywhere on the page.
import { all, make, one } from "./dom.ts";

/** What the last action said stands at the top: who is led further down hears it there. */
export function repeatSaid(): void {
  const said = all("#notices p").map(({ textContent }) => textContent);
  if (said.length > 0 && location.hash !== "") showNotice(said.join(" "));
}

/** Says something in place of what was told before; `action` = a link beside it. */
export function showNotice(text: string, action?: HTMLElement): void {
  one("#notices .told")?.remove();
  const close = make("button", { type: "button", "aria-label": "Close this message" }, "×");
  const told = make("p", { class: "told" }, `${text} `, ...(action === undefined ? [] : [action, " "]), close);
  close.addEventListener("click", () => told.remove());
  one("#notices")?.append(told);
}
