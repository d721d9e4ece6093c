import type { Config } from "#config/environment.ts";
import type { Output } from "./terminal/output.ts";

export interface Invocation {
  readonly argv: readonly string[];
  readonly output: Output;
  readonly config: Config;
  /** Variables of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Resolves with the exit status. */
export type Command = (invocation: Invocation) => Promise<number>;
