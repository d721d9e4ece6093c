import { programUrl } from "./program.ts";

/** Called by `bin/parley.js`. */
const program: string = programUrl();
await import(program);
