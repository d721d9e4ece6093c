import type { SpokenLanguage } from "#language/locale.ts";
import { Problem } from "#domain/problem.ts";
import type { Selectable } from "kysely";
import type { Plan, WorkspaceSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Store } from "#database/contract.ts";
import { rescheduleWork } from "#conversations/automation/reschedule-timers.ts";
import { insertWork } from "#database/queries/outbox.ts";
import { lockWorkspace } from "#database/queries/workspaces.ts";
import { readConfigFile } from "#config/file.ts";
import type { WorkspacesTable } from "#database/schema/tables.ts";
import { operatorActor, recordChange } from "#admin/audit.ts";
import type { Entry } from "#admin/settings/change.ts";
import { settingEntries } from "#admin/settings/entries.ts";
import { requireDowngradable, requirePlanFor } from "./plan.ts";

/**
 * Changes settings of a workspace, given as `key=value` with the keys of the configuration file (`widget.title=Help`),
 * or `name` and `plan`. Values are parsed as YAML. `force` lowers the plan even if features of the higher one are in use.
 * Returns the stored settings.
 */
export async function setWorkspace(
  store: Store,
  clock: Clock,
  workspaceId: string,
  assignments: readonly string[],
  { force = false }: { readonly force?: boolean } = {},
): Promise<Partial<WorkspaceSettings>> {
  const tree: Record<string, unknown> = {};
  for (const assignment of assignments) {
    const at = assignment.indexOf("=");
    if (at < 1) throw new Problem("invalid_parameter", `"${assignment}" is not of the form key=value`);
    put(tree, assignment.slice(0, at).split("."), assignment.slice(at + 1));
  }
  if (Object.hasOwn(tree, "desk")) {
    throw new Problem("invalid_parameter", "the desk is declared in the configuration file, and set up at the start");
  }
  // The file's schema requires a name.
  const yaml = toYaml({ name: "unchanged", ...tree }, 4);
  const [parsed] = readConfigFile("the settings", `workspaces:\n  - ${yaml}`, {}).workspaces;
  if (parsed === undefined) throw new Error("the settings were lost while they were read");
  if (parsed.channels.length > 0) {
    throw new Problem("invalid_parameter", "channels are declared in the configuration file, and created at the start");
  }
  for (const key of ["skills", "rules", "saved_replies", "macros", "single_sign_on"]) {
    if (!Object.hasOwn(tree, key)) continue;
    throw new Problem("invalid_parameter", `${key}: this is declared in the configuration file, and read at the start`);
  }
  if (Object.hasOwn(tree, "webhooks")) {
    throw new Problem("invalid_parameter", "webhooks are added with: parley webhook add, or in the configuration file");
  }
  const name = Object.hasOwn(tree, "name") ? parsed.name : undefined;
  return store.write(async (tx) => {
    const row = await lockWorkspace(tx, workspaceId);
    if (row === undefined) throw new Problem("workspace_not_found", `there is no workspace ${workspaceId}`);
    const before = JSON.parse(row.settings) as Partial<WorkspaceSettings>;
    const settings = { ...before, ...parsed.settings };
    if (parsed.settings.slaTargets !== undefined) {
      settings.slaTargets = { ...before.slaTargets, ...parsed.settings.slaTargets };
    }
    // A rule for one tag keeps the others; a value for all of them replaces them.
    if (parsed.settings.audiences !== undefined && typeof tree["audiences"] === "object") {
      settings.audiences = { ...before.audiences, ...parsed.settings.audiences };
    }
    // A single sentence keeps the others.
    for (const [language, texts] of Object.entries(parsed.settings.translations ?? {})) {
      const known = before.translations?.[language as SpokenLanguage];
      settings.translations = { ...before.translations, ...settings.translations, [language]: { ...known, ...texts } };
    }
    const plan = parsed.plan ?? row.plan;
    requirePlanFor(plan, parsed.settings);
    if (!force) await requireDowngradable(tx, workspaceId, { from: row.plan, to: plan }, settings, clock.now());
    await tx
      .updateTable("workspaces")
      .set({
        settings: JSON.stringify(settings),
        ...(name === undefined ? {} : { name }),
        ...(parsed.plan === undefined ? {} : { plan: parsed.plan }),
      })
      .where("id", "=", workspaceId)
      .execute();
    const now = clock.now();
    for (const entry of entriesOf(row, { settings, plan, name })) {
      await recordChange(tx, { workspaceId, by: operatorActor, now, ...entry });
    }
    await insertWork(tx, [rescheduleWork(workspaceId, now)], now);
    return settings;
  });
}

type Changed = Pick<Selectable<WorkspacesTable>, "name" | "plan" | "settings">;

function entriesOf(
  row: Changed,
  after: { readonly settings: Partial<WorkspaceSettings>; readonly plan: Plan; readonly name: string | undefined },
): readonly Entry[] {
  const { settings, plan, name = row.name } = after;
  const own = [
    { action: "workspace_changed", subject: "plan", from: row.plan, to: plan },
    { action: "workspace_changed", subject: "name", from: row.name, to: name },
  ] as const;
  return [
    ...own.filter(({ from, to }) => from !== to),
    ...settingEntries(JSON.parse(row.settings) as Partial<WorkspaceSettings>, settings),
  ];
}

function put(tree: Record<string, unknown>, path: readonly string[], value: string): void {
  const [key, ...rest] = path;
  if (key === undefined || !/^[A-Za-z][\w-]*$/.test(key))
    throw new Problem("invalid_parameter", `"${path.join(".")}" is not a setting`);
  if (rest.length === 0) {
    tree[key] = value;
    return;
  }
  const branch = typeof tree[key] === "object" && tree[key] !== null ? (tree[key] as Record<string, unknown>) : {};
  tree[key] = branch;
  put(branch, rest, value);
}

/** Writes each value unchanged on one line, so that `[a, b]`, `false` and `3` have the same meaning as in the file. */
function toYaml(tree: Record<string, unknown>, indent: number, below = ""): string {
  return Object.entries(tree)
    .map(([key, value]) => {
      if (typeof value === "object" && value !== null) {
        return `${key}:\n${" ".repeat(indent + 2)}${toYaml(value as Record<string, unknown>, indent + 2, key)}`;
      }
      const text = String(value).replaceAll(/[\r\n]+/g, " ");
      // Elsewhere braces are text.
      const isRule = [key, below].includes("audiences") && /^\{.*\}$/.test(text);
      const literal = isRule || /^(\[.*\]|-?\d+(?:\.\d+)?|true|false)$/.test(text) ? text : JSON.stringify(text);
      return `${key}: ${literal}`;
    })
    .join(`\n${" ".repeat(indent)}`);
}
