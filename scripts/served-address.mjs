// What a `jpg serve --json` that was started says: for programs that open its pages.

/** Resolves to the address with its token; rejects when the server ends first. */
export function addressOf(server) {
  return new Promise((found, failed) => {
    let said = "";
    server.stdout.on("data", (chunk) => {
      said += chunk;
      if (said.trimEnd().endsWith("}")) found(JSON.parse(said).address);
    });
    server.once("exit", (code) => failed(new Error(`jpg serve ended with ${code}`)));
  });
}
