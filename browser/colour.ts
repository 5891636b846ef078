// Colours code as it comes into sight. The highlighter's tokens become elements here, whose texts are texts: no HTML is made.
import type { Emitter } from "highlight.js";
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { all } from "./dom.ts";

/** Longer code is not coloured, characters: the page would stand still. */
const LONGEST = 20_000;
const LANGUAGES = {
  bash,
  c,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

/** Builds the elements of coloured code. */
class ElementEmitter implements Emitter {
  readonly root: DocumentFragment = document.createDocumentFragment();
  readonly #open: Node[] = [this.root];

  get #top(): Node {
    return this.#open.at(-1) ?? this.root;
  }

  addText(text: string): void {
    if (text !== "") this.#top.appendChild(document.createTextNode(text));
  }

  startScope(name: string): void {
    const span = document.createElement("span");
    span.className = `hl-${name.split(".")[0]}`;
    this.#top.appendChild(span);
    this.#open.push(span);
  }

  endScope(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  // The highlighter calls these, too, which its types do not say.
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: Emitter, _name: string): void {
    this.#top.appendChild((emitter as ElementEmitter).root);
  }

  finalize(): void {}

  toHTML(): string {
    return "";
  }
}

const inSight = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) colour(target as HTMLElement);
  },
  { rootMargin: "300px" },
);

/** Prepares the highlighter, and watches the code of the page. */
export function colourCode(): void {
  highlighter.configure({ __emitter: ElementEmitter });
  for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);
  colourIn(document);
}

/** Watches the code of a part of the page. */
export function colourIn(part: ParentNode): void {
  for (const code of all("code[data-code]", part)) inSight.observe(code);
}

function colour(code: HTMLElement): void {
  inSight.unobserve(code);
  const language = code.dataset["code"] ?? "";
  const text = code.textContent ?? "";
  if (text.length > LONGEST || highlighter.getLanguage(language) === undefined) return;
  const { _emitter: emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
  const { root } = emitter as ElementEmitter;
  // Whatever the highlighter does, what was said stays what was said.
  if (root.textContent === text) code.replaceChildren(root);
}
