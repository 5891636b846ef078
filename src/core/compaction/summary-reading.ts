// What the model that wrote a summary did not see as it stands: said in reports and in the commit's message.
import type { Summary } from "./compaction.ts";

/** Words what was not whole, each completing "read …" or "the summary's model read …"; nothing where one request held all. */
export function describeReading({ parts, shortened }: Summary): readonly string[] {
  return [
    ...(parts === undefined ? [] : [`in ${parts} parts, whose summaries were merged`]),
    ...(shortened === undefined
      ? []
      : [
          `with ${shortened.texts === 1 ? "one text" : `${shortened.texts} texts`} shortened in the middle, by ${shortened.chars} characters in all`,
        ]),
  ];
}
