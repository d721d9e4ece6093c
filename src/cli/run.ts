import type { ProblemCode } from "#domain/problem.ts";
import { Problem } from "#domain/problem.ts";
import type { Config } from "#config/environment.ts";
import { ConfigError } from "#config/config-error.ts";
import { loadConfig } from "#config/environment.ts";
import { UnreadableFile } from "#config/errors.ts";
import { UsageError } from "./terminal/arguments.ts";
import { commands, usage, usesWorkspaces } from "./commands.ts";
import { createOutput, red } from "./terminal/output.ts";

/** Runs a command line. Resolves with the exit status: 0 done, 1 failed, 2 wrong arguments. */
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
      env: process.env,
      config: await readConfig(process.env, usesWorkspaces.has(command) ? "all" : "outbound"),
    });
  } catch (error) {
    process.stderr.write(`${red("error:")} ${messageOf(error, first)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Adds the errors that only adapters find, so that all can be fixed at once. */
async function readConfig(env: NodeJS.ProcessEnv, needs: "all" | "outbound"): Promise<Config> {
  try {
    return loadConfig(env, needs);
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    const { withAccounts } = await import("#admin/channels/provisioning.ts");
    throw await withAccounts(error);
  }
}

/** Ways out that only the command line has. */
const hints: Readonly<Partial<Record<ProblemCode, string>>> = {
  feature_not_in_plan: "The command changes it too: parley workspace set ID plan=PLAN",
  plan_downgrade_blocked: "--force lowers the plan anyway; existing settings keep working.",
};

/** A message for expected errors; the stack for others. */
function messageOf(error: unknown, group: string): string {
  if (error instanceof Problem) {
    const hint = group === "webhook" && error.code === "not_found" ? "See: parley webhook list" : hints[error.code];
    return hint === undefined ? error.message : `${error.message.replace(/\.?$/, ".")} ${hint}`;
  }
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return "unknown failure";
  const cause = error.cause instanceof Error ? `\n  because: ${error.cause.message}` : "";
  return process.env["LOG_LEVEL"] === "debug" ? (error.stack ?? error.message) : `${error.message}${cause}`;
}
