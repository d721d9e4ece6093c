import { counted } from "#domain/plural.ts";
import { storedSettings } from "#domain/workspace/settings.ts";
import { systemClock as clock } from "#runtime/clock.ts";
import { requireWorkspace } from "#admin/api-keys.ts";
import { dryRunRules } from "#admin/workspaces/rules-dry-run.ts";
import { UsageError, readArguments } from "./terminal/arguments.ts";
import type { Command } from "./command.ts";
import { withServices } from "./with-services.ts";
import { bold, dim } from "./terminal/output.ts";

const limitStandard = 200;
const limitMax = 10_000;

/** Shows which rules would have fired on stored conversations. Changes nothing. */
export const rulesTest: Command = ({ argv, output, config }) => {
  const given = readArguments(argv, ["workspace", "conversation", "rule", "limit"]);
  const workspaceId = given.required("workspace");
  const limit = given.number("limit") ?? limitStandard;
  if (limit < 1 || limit > limitMax) throw new UsageError(`--limit takes 1 to ${limitMax}`);
  return withServices(config, async ({ store }) => {
    const workspace = await requireWorkspace(store, workspaceId);
    const row = await store.read
      .selectFrom("workspaces")
      .select(["name", "settings"])
      .where("id", "=", workspace.id)
      .executeTakeFirstOrThrow();
    const stored = storedSettings(row.settings);
    const inFile = config.file.workspaces.find(({ name }) => name === row.name);
    // Uses the file's rules, so that they can be tried before a restart applies them.
    const { rules: declared = [] } = inFile ?? {};
    const settings = { ...stored, ...inFile?.settings, ...(declared.length === 0 ? {} : { rules: declared }) };
    const only = given.optional("rule");
    const rules = settings.rules.filter(({ name, enabled }) =>
      only === undefined ? enabled !== false : name === only,
    );
    if (rules.length === 0) {
      const known = settings.rules.map(({ name }) => `"${name}"`).join(", ");
      throw new Error(
        only === undefined
          ? "this workspace has no rules; docs/automation.md shows how to declare them in the configuration file"
          : `there is no rule "${only}"; there are: ${known === "" ? "none" : known}`,
      );
    }
    const { conversations, fired } = await dryRunRules(store, {
      workspaceId: workspace.id,
      rules,
      businessHours: settings.businessHours,
      slaTargets: { ...stored.slaTargets, ...inFile?.settings.slaTargets },
      conversationId: given.optional("conversation"),
      limit,
      now: clock.now(),
    });
    output.result({ conversations, rules: rules.map(({ name }) => name), fired }, [
      `${counted(rules.length, "rule")} on ${counted(conversations, "conversation")}: would have fired ${counted(fired.length, "time")}. Nothing was changed.`,
      ...fired.flatMap(({ conversation_id, at, rule, because, would }) => [
        "",
        `${bold(rule)}  ${conversation_id}  ${at}`,
        dim(`  because ${because.join(", and ")}`),
        `  would ${would.join("; ")}`,
      ]),
    ]);
    return 0;
  });
};
