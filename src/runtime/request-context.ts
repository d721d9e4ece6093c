import { AsyncLocalStorage } from "node:async_hooks";

/** The id of the request that the running code works for; every line that it logs carries it. */
export const requestContext = new AsyncLocalStorage<string>();
