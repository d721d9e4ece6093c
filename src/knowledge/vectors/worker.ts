import { answerCalls } from "#knowledge/index/thread/answer-calls.ts";
import type { NearestCall } from "./thread.ts";
import { nearest } from "./thread.ts";

// Entry of the thread that thread.ts starts.

answerCalls((call) => nearest(call as NearestCall), "answers");
