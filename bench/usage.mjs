// Preloaded into a measured node: writes what it used, as JSON, to the file that JPG_BENCH_USAGE names.
import { writeFileSync } from "node:fs";

const file = process.env.JPG_BENCH_USAGE;
delete process.env.JPG_BENCH_USAGE;
process.on("exit", () => {
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  if (file !== undefined)
    writeFileSync(file, JSON.stringify({ peakMb: maxRSS / 1000, cpuMs: (userCPUTime + systemCPUTime) / 1000 }));
});
