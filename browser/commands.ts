// The commands of forms: updated while a form is filled in, and copied.
import { shellWord } from "../src/core/safe-text.ts";
import { all, make } from "./dom.ts";
import { showNotice } from "./notices.ts";

/** Begins to keep the page's commands true. */
export function keepCommands(): void {
  document.addEventListener("input", ({ target }) => {
    if (target instanceof Element) fillIn(target.closest("form"));
  });
  for (const form of document.forms) fillIn(form);
  addCopyButtons(document);
}

/** Adds a copy button to each command of a part of the page. */
export function addCopyButtons(part: ParentNode): void {
  for (const command of all("code.command", part)) {
    if (command.nextElementSibling?.matches(".copy")) continue;
    const button = make("button", { type: "button", class: "copy", "aria-label": "Copy the command" }, "Copy");
    button.addEventListener("click", () => void copy(command));
    command.after(" ", button);
  }
}

/** Updates the commands of a form from its fields. */
export function fillIn(form: HTMLFormElement | null): void {
  if (form === null) return;
  for (const word of all("[data-field]", form)) {
    const field = form.elements.namedItem(word.dataset["field"] ?? "");
    const said = wordsOf(field);
    word.textContent = said === "" ? (word.dataset["empty"] ?? "") : said;
  }
}

function wordsOf(field: RadioNodeList | Element | null): string {
  if (field instanceof HTMLSelectElement) return field.selectedOptions[0]?.dataset["words"] ?? "";
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return "";
  const value = field.value.trim();
  return value === "" ? "" : shellWord(value);
}

async function copy(command: HTMLElement): Promise<void> {
  const text = (command.textContent ?? "").trim();
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Browsers that keep the clipboard to themselves take what is selected.
    getSelection()?.selectAllChildren(command);
    if (!document.execCommand("copy")) return showNotice("The command is selected. Copy it with Ctrl+C.");
  }
  showNotice(`Copied: ${text}`);
}
