// Stands in the bundle for what secretlint finds the lines of a text with, before each scan: of what it reports jpg takes the
// range alone. The one rule that asks for lines, which lets comments switch off the others, is left out.
const NOWHERE = { line: 0, column: 0 };

export class StructuredSource {
  rangeToLocation() {
    return { start: NOWHERE, end: NOWHERE };
  }
}
