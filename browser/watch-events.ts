// What this page changed by itself: who watches the store takes it in at once and does not announce it.
const CHANGED = "jpg-changed";

/** Tells that this page has just changed the conversation. */
export function changedHere(): void {
  document.dispatchEvent(new Event(CHANGED));
}

/** Calls back when it has. */
export function onChangedHere(act: () => void): void {
  document.addEventListener(CHANGED, act);
}
