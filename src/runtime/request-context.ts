import { AsyncLocalStorage } from "node:async_hooks";

/** The id of the current request, which is added to every log line. */
export const requestContext = new AsyncLocalStorage<string>();
