// The thread of `blob-thread.ts`: built as a file of its own, run by nothing else.
import { parentPort, workerData } from "node:worker_threads";
import { createBlobPacker } from "./blob-pack.ts";
import type { BlobAnswer, BlobRequest } from "./blob-thread.ts";

const packer = createBlobPacker(String(workerData));

parentPort?.on("message", (request: BlobRequest) => {
  parentPort?.postMessage(answer(request));
});

function answer(request: BlobRequest): BlobAnswer {
  if ("flush" in request) return { oids: packer.flush() };
  let at = 0;
  for (const { bytes, starts } of request.blobs) {
    packer.add(new Uint8Array(request.segment, at, bytes), starts);
    at += bytes;
  }
  return { segment: request.segment };
}
