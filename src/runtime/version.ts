import { readFileSync } from "node:fs";

/** The program's version in package.json. */
export const version = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { readonly version: string }
).version;
