// What a page does beyond what it says: it loads what comes into sight, draws the timeline, finds, takes keys, colours code, and
// served tells when the store changed under it. Pages read well without it.
import { colourCode, colourIn } from "./colour.ts";
import { addCopyButtons, keepCommands } from "./commands.ts";
import { handleFind } from "./find.ts";
import { followLinks } from "./go.ts";
import { handleKeys } from "./keys.ts";
import { repeatSaid } from "./notices.ts";
import { openOutline } from "./outline.ts";
import { watchGaps } from "./parts.ts";
import { showSelfLink } from "./self-link.ts";
import { followSides, hideIn } from "./sides.ts";
import { remember } from "./swap.ts";
import { drawTimeline } from "./timeline.ts";
import { unpackTexts } from "./unpack.ts";
import { watch } from "./watch.ts";

remember(document);
unpackTexts();
handleKeys();
followSides();
handleFind();
watchGaps((part) => {
  remember(part);
  hideIn(part);
  colourIn(part);
  addCopyButtons(part);
});
repeatSaid();
followLinks();
keepCommands();
showSelfLink();
drawTimeline();
openOutline();
colourCode();
if (location.protocol !== "file:") watch();
// From here on the script hides rows, not the style sheet, and keys work.
document.documentElement.classList.add("scripted");
performance.mark("jpg:ready");
