import { answerCalls } from "./answer-calls.ts";
import type { NearestCall } from "./vector-thread.ts";
import { nearest } from "./vector-thread.ts";

// Entry of the thread that vector-thread.ts starts.

answerCalls((call) => nearest(call as NearestCall), "answers");
