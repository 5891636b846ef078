// jpg inside Claude Code. `jpg hooks uninstall claude-code` removes it.
const JPG = ["jpg", "live"];

export function register(on) {
  on("session.compact", async ($, event, next) => {
    await $.process.run(JPG, { stdin: "", timeoutMs: 120_000 });
    return next(event);
  });
}
