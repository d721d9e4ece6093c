import { answerCalls } from "./answer-calls.ts";
import { nearest } from "./vector-thread.ts";

// Entry of the thread that vector-thread.ts starts.

answerCalls(nearest, "answers");
