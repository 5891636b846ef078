// The outline stands open where the style sheet gives it a column of its own.
import { one } from "./dom.ts";

/** As in the style sheet. */
const WIDE = "(min-width: 75rem)";

/** Opens it where there is room. */
export function openOutline(): void {
  const outline = one("details.outline");
  if (outline instanceof HTMLDetailsElement && matchMedia(WIDE).matches) outline.open = true;
}
