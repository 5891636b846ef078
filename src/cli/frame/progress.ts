// What a person sees of long work: nothing for a second, then how many items are done, and from five seconds on what is left.
import type { Progress, ReportProgress } from "../../app/conversation/progress.ts";

/** Milliseconds before anything is shown. */
const SHOW_AFTER_MS = 1000;
/** Milliseconds from which the time that is left can be told. */
const TELL_AFTER_MS = 5000;
/** Milliseconds between two drawings if nothing is reported meanwhile. */
const REDRAW_MS = 500;

/** Creates what receives the progress of one command and shows it as a line of text; "" = nothing. */
export function createProgressReport(show: (text: string) => void): ReportProgress {
  let now: Progress | null = null;
  let since = 0;
  let drawnAt = 0;
  let timer: ReturnType<typeof setInterval> | null = null;
  const draw = (): void => {
    const at = performance.now();
    if (now === null || at - since < SHOW_AFTER_MS) return;
    drawnAt = at;
    show(progressText(now, at - since));
  };
  const end = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
    now = null;
    if (drawnAt > 0) show("");
    drawnAt = 0;
  };
  return (progress) => {
    if (progress === null || progress.total === 0) return end();
    if (now?.doing !== progress.doing) since = performance.now();
    now = progress;
    timer ??= setInterval(draw, REDRAW_MS).unref();
    // Work that never waits lets no timer run.
    if (performance.now() - drawnAt >= REDRAW_MS) draw();
  };
}

/** Words how far work is, e.g. `importing sessions: 12 of 400, about 40 s left`. */
export function progressText({ doing, done, total }: Progress, passedMs: number): string {
  // One item says nothing until it is done.
  const isCounted = total !== null && total > 1;
  const counts = isCounted ? `: ${done} of ${total}` : done > 1 ? `: ${done}` : "";
  if (passedMs < TELL_AFTER_MS) return `${doing}${counts}`;
  if (!isCounted || done === 0) return `${doing}${counts}, for ${timeText(passedMs)} so far`;
  return `${doing}${counts}, about ${timeText((passedMs / done) * (total - done))} left`;
}

/** A duration in the unit that fits, rounded so that it does not flicker. */
function timeText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 90) return `${Math.round(seconds / 5) * 5} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
