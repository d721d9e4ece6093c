import { workerData } from "node:worker_threads";
import { answerCalls } from "./answer-calls.ts";
import type { IndexCall } from "./index-calls.ts";
import { runCall } from "./index-calls.ts";
import { openIndexFile } from "../file/index-file.ts";
import type { ThreadTask } from "./index-thread.ts";

// Entry of the thread that index-thread.ts starts.

const { path, priority } = workerData as ThreadTask;
const file = openIndexFile(path);

answerCalls((call) => runCall(file, call as IndexCall), priority);
