// Asks a second time before a model is asked: whom, how much is sent, what it costs.
import { type AskedCost, describeAsked } from "../../app/look/compaction-page.ts";
import { actionAddress, branchAddress } from "./addresses.ts";
import { type Place, renderDocument } from "./document.ts";
import { html } from "./html.ts";

/** Draws it; `fields` = the form that was sent, which is sent again with the model in it. */
export function renderConfirmPage(
  branch: string,
  { fields, ...asked }: AskedCost & { readonly fields: URLSearchParams },
  place: Place,
): string {
  const hidden = [...fields].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
  const body = html`<main><h1>Ask a model?</h1>
<p>${describeAsked(asked)} Nothing has been sent yet.</p>
<form method="post" action="${actionAddress(branch, "compact")}">${hidden}<button>Ask ${asked.model}, and compact</button></form>
<p><a href="${branchAddress(branch)}">Cancel</a></p></main>
`;
  return renderDocument("Ask a model?", place, body);
}
