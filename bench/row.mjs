// A row of the result: what was measured, what it must reach, and whether it does. Rows without a limit are information.

/**
 * Creates a row. `limit` is `{atMost}` or `{atLeast}` in the row's unit (`x` = ratio). `detail` says what the number was made of.
 * @param {string} id
 * @param {string} name
 * @param {{ value: number, unit?: string, limit?: { atMost?: number, atLeast?: number }, detail?: string }} measured
 */
export function createRow(id, name, { value, unit = "x", limit = {}, detail = "" }) {
  // What is no number was not measured: a session that is missing, for one.
  if (!Number.isFinite(value)) throw new Error(`${id} (${name}) is ${value}: there was nothing to measure.`);
  const { atMost, atLeast } = limit;
  const result =
    atMost === undefined && atLeast === undefined
      ? "info"
      : value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY)
        ? "pass"
        : "miss";
  return { id, name, value, unit, ...limit, result, detail };
}

/** Creates the row of something that cannot be measured here. */
export function createSkip(id, name, reason) {
  return { id, name, result: "SKIPPED", detail: reason };
}

/** Creates the row of something that is measured on real sessions, where there are none in `corpus`. */
export function skipWithoutCorpus(id, name, corpus) {
  return createSkip(id, name, `no corpus at ${corpus}`);
}

/** Renders rows as a Markdown table. */
export function renderRows(rows) {
  const cells = rows.map(({ id, name, value, unit, atMost, atLeast, result, detail }) => [
    id,
    name,
    value === undefined ? "–" : `${formatNumber(value)} ${unit}`,
    atMost !== undefined ? `≤ ${atMost} ${unit}` : atLeast !== undefined ? `≥ ${atLeast} ${unit}` : "–",
    result,
    detail,
  ]);
  const head = ["", "measured", "value", "target", "result", "made of"];
  const widths = head.map((title, column) => Math.max(3, title.length, ...cells.map((cell) => cell[column].length)));
  const line = (cell) => `| ${cell.map((text, column) => text.padEnd(widths[column])).join(" | ")} |`;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...cells.map(line)].join("\n");
}

/** A number with three significant digits, whole from 100 on. */
export function formatNumber(value) {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** Milliseconds as text. */
export function ms(value) {
  return value >= 10_000 ? `${formatNumber(value / 1000)} s` : `${formatNumber(value)} ms`;
}

/** `a ÷ b` of two measurements, with what it was made of: medians, and the ratio of the best times. */
export function ratio(a, b) {
  return {
    value: a.median / b.median,
    detail: `${ms(a.median)} ÷ ${ms(b.median)}; best ÷ best ${formatNumber(a.best / b.best)}`,
  };
}
