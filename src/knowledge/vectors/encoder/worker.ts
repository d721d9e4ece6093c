import { answerCalls } from "#knowledge/index/thread/answer-calls.ts";
import type { EncoderCall } from "./built-in-embedder.ts";
import { loadEncoder } from "./model.ts";

// Entry of the thread that built-in-embedder.ts starts.

const loading = loadEncoder();
// The first call reports the failure.
loading.catch(() => undefined);

answerCalls(async (call) => (await loading)((call as EncoderCall).texts), "answers");
