// What agents' hooks put aside and nobody could import: it says so, for nobody sees it happen.
import { hookPlaces } from "../hooks/hook-places.ts";
import { listSpool } from "../hooks/spool.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** As `jpg doctor` reports it. */
interface SpoolCheck {
  readonly name: "spool";
  readonly state: "warning";
  readonly message: string;
  readonly hint: string;
}

/** Looks at what waits; nothing to say where all of it came in. */
export async function checkSpool(runtime: Runtime): Promise<readonly SpoolCheck[]> {
  const places = hookPlaces(runtime);
  const waiting = await listSpool(places, runtime.now()).catch(() => []);
  const failed = waiting.filter(({ problem }) => problem !== null);
  const [first] = failed;
  if (first === undefined) return [];
  const sessions =
    failed.length === 1 ? "1 session that an agent's hook" : `${failed.length} sessions that agents' hooks`;
  return [
    {
      name: "spool",
      state: "warning",
      message: `${sessions} put aside could not be imported: ${first.problem?.message ?? ""}`,
      hint: `\`jpg sync --spool\` tries again; what was put aside is in ${places.spool}`,
    },
  ];
}
