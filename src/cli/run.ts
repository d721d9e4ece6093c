import { Problem } from "#domain/problem.ts";
import type { Config } from "#config/environment.ts";
import { ConfigError, loadConfig } from "#config/environment.ts";
import { UnreadableFile } from "#config/errors.ts";
import { UsageError } from "./terminal/arguments.ts";
import { commands, usage, usesWorkspaces } from "./commands.ts";
import { createOutput, red } from "./terminal/output.ts";

/** Runs a command line. The exit status: 0, 1 failed, 2 called wrongly. */
export async function run(argv: readonly string[]): Promise<number> {
  const [first, second] = argv;
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    process.stdout.write(usage);
    return first === undefined ? 2 : 0;
  }
  const long = second === undefined ? undefined : commands[`${first} ${second}`];
  const command = long ?? commands[first];
  const rest = argv.slice(long === undefined ? 1 : 2);
  try {
    if (command === undefined)
      throw new UsageError(`there is no command "${[first, second].join(" ").trim()}"; see: parley help`);
    return await command({
      argv: rest,
      output: createOutput(rest.includes("--json")),
      config: await readConfig(process.env, usesWorkspaces.has(command) ? "all" : "outbound"),
    });
  } catch (error) {
    process.stderr.write(`${red("error:")} ${messageOf(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Who mends a file wants to know all that is wrong with it, also what only the platforms' adapters can tell. */
async function readConfig(env: NodeJS.ProcessEnv, needs: "all" | "outbound"): Promise<Config> {
  try {
    return loadConfig(env, needs);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const { withAccounts } = await import("#admin/channels.ts");
    throw await withAccounts(error);
  }
}

/** What a person can act on; for what nobody foresaw, all there is. */
function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof Problem || error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return "unknown failure";
  const cause = error.cause instanceof Error ? `\n  because: ${error.cause.message}` : "";
  return process.env["LOG_LEVEL"] === "debug" ? (error.stack ?? error.message) : `${error.message}${cause}`;
}
