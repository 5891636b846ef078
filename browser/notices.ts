// What a page is told while it is open, in its own place for that.
import { make, one } from "./dom.ts";

/** Says something, once; `action` = a link beside it. */
export function tell(text: string, action?: HTMLElement): void {
  const notices = one("#notices");
  if (notices === null || notices.dataset["told"] === text) return;
  notices.dataset["told"] = text;
  notices.append(make("p", {}, `${text} `, ...(action === undefined ? [] : [action])));
}
