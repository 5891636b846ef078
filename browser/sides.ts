// What the chosen side hides can still be found: the browser finds what is hidden until it is found, and then all sides are shown.
import { all, one } from "./dom.ts";
import { showAll } from "./go.ts";

/** Rows that a side hides; the style sheet says the same for pages without scripts. */
const HIDDEN: Readonly<Record<string, string>> = {
  "side-raw": ".row.inserted",
  "side-view": ".row.hidden",
  "prompts-only": ".row:not(.user)",
};

/** Begins to follow the choice. */
export function followSides(): void {
  const apply = (): void => hideIn(document);
  for (const id of [...Object.keys(HIDDEN), "side-both"]) one(`#${id}`)?.addEventListener("change", apply);
  document.addEventListener("beforematch", () => showAll());
  apply();
}

/** Hides in a part of the page what the chosen side hides. */
export function hideIn(part: ParentNode): void {
  const chosen = Object.entries(HIDDEN).filter(([id]) => one(`#${id}:checked`) !== null);
  const hidden = chosen.map(([, rows]) => rows).join(", ");
  for (const row of all(".row[hidden]", part)) if (hidden === "" || !row.matches(hidden)) row.removeAttribute("hidden");
  if (hidden !== "") for (const row of all(hidden, part)) row.setAttribute("hidden", "until-found");
}
