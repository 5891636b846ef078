// What stands above a conversation that is shown as if a compaction had been taken back, so that nobody takes it for what is.
import { actionAddress, branchAddress, compactionAddress } from "./addresses.ts";
import { commandHtml } from "./command.ts";
import { type Html, html, nothing } from "./html.ts";

/** Draws it. */
export function renderLook(branch: string, compaction: string, canAct: boolean): Html {
  const revert = canAct
    ? html`<form method="post" action="${actionAddress(branch, "revert")}"><button name="id" value="${compaction}">Undo it</button> ${commandHtml("jpg", "revert", compaction)}</form>`
    : nothing;
  return html`<div class="look" role="note"><p>This is how it would read without <a href="${compactionAddress(branch, compaction)}">compaction ${compaction}</a>. Nothing was changed. <a href="${branchAddress(branch)}">Show it as it is</a></p>
${revert}</div>
`;
}
