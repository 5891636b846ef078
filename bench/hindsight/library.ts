// What the benchmark of hindsight calls, bundled apart from what the others do: what breaks here breaks none of them.
export { findInsane } from "./figures.ts";
export { measureCycles, measureHindsight, readSession } from "./hindsight.ts";
export { renderPlot } from "./plot.ts";
export { renderCycles, renderFigures, renderSessions } from "./tables.ts";
