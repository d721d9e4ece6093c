import { parentPort, workerData } from "node:worker_threads";
import { readMail } from "./parse.ts";

// Entry of the thread that parse-in-worker.ts starts: parses one mail and ends.

const { raw, bytes } = workerData as { readonly raw: Uint8Array; readonly bytes: number };
parentPort?.postMessage(await readMail({ raw: Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength), bytes }));
