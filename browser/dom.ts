// Small words about the page. Text of strangers becomes text here, never markup.

/** Makes an element with attributes, and with texts and elements in it. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...inside: readonly (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);
  return element;
}

/** The elements that a selector names, in order. */
export function all(selector: string, within: ParentNode = document): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>(selector)];
}

/** Reads HTML of jpg's own server; no script in it runs. */
export function readHtml(text: string): Document {
  return new DOMParser().parseFromString(text, "text/html");
}

/** The one that a selector names. */
export function one(selector: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(selector);
}

/** Whether an element is shown: not hidden by the chosen side, even where the browser could still find it. */
export function isShown(element: Element): boolean {
  return element.closest("[hidden]") === null && element.checkVisibility();
}
