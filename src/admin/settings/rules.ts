import { Problem } from "#domain/problem.ts";
import { idStart } from "#domain/ids.ts";
import type { Rule } from "#domain/workspace/automation.ts";
import type { Reader } from "#database/contract.ts";
import type { FileRule } from "#config/sections/rule-form.ts";
import { fileRuleOf } from "#config/sections/rule-form.ts";
import { dryRunRules } from "#admin/workspaces/rules-dry-run.ts";
import type { Edit, Entry, SettingsDependencies, StoredWorkspace } from "./change.ts";
import { changeSettings, readStored, requireOwn } from "./change.ts";
import { checkedWorkspace, forPeople, someHours } from "./check.ts";

const dayMs = 86_400_000;

/** Rules with those that are off, in their order, in the form of the configuration file. */
export async function listRules(db: Reader, workspaceId: string) {
  const { stored, declared } = await readStored(db, workspaceId);
  return { rules: (stored.rules ?? []).map(fileRuleOf), managed_by_file: declared.has("rules") };
}

/** Adds a rule behind the others. */
export async function addRule(dependencies: SettingsDependencies, edit: Edit, rule: FileRule): Promise<FileRule> {
  await requireAssignees(dependencies.store.read, edit.workspaceId, rule);
  return editRules(dependencies, edit, (rules) => {
    requireFree(rules, rule.name);
    return {
      rules: [...rules, rule],
      entry: { action: "rule_added", subject: rule.name, to: forPeople(rule) },
      result: rule,
    };
  });
}

/** Replaces the given parts of a rule. */
export async function changeRule(
  dependencies: SettingsDependencies,
  edit: Edit,
  name: string,
  change: Partial<FileRule>,
): Promise<FileRule> {
  await requireAssignees(dependencies.store.read, edit.workspaceId, change);
  return editRules(dependencies, edit, (rules) => {
    const before = ruleOf(rules, name);
    const next: FileRule = { ...before, ...change };
    if (next.name !== name) requireFree(rules, next.name);
    return {
      rules: rules.map((rule) => (rule.name === name ? next : rule)),
      entry: { action: "rule_changed", subject: next.name, from: forPeople(before), to: forPeople(next) },
      result: next,
    };
  });
}

export function removeRule(dependencies: SettingsDependencies, edit: Edit, name: string): Promise<void> {
  return editRules(dependencies, edit, (rules) => ({
    entry: { action: "rule_removed", subject: name, from: forPeople(ruleOf(rules, name)) },
    rules: rules.filter((rule) => rule.name !== name),
    result: undefined,
  }));
}

/** Puts the rules into another order. `names` has each of them once. */
export function orderRules(dependencies: SettingsDependencies, edit: Edit, names: readonly string[]): Promise<void> {
  return editRules(dependencies, edit, (rules) => {
    if (names.length !== rules.length || new Set(names).size !== names.length) {
      throw new Problem("invalid_parameter", "names must have each rule once.");
    }
    const from = rules.map(({ name }) => name).join(", ");
    return {
      rules: names.map((name) => ruleOf(rules, name)),
      entry: { action: "rule_changed", subject: "order", from: forPeople(from), to: forPeople(names.join(", ")) },
      result: undefined,
    };
  });
}

function editRules<T>(
  dependencies: SettingsDependencies,
  edit: Edit,
  change: (rules: readonly FileRule[]) => {
    readonly rules: readonly FileRule[];
    readonly entry: Entry;
    readonly result: T;
  },
): Promise<T> {
  return changeSettings(dependencies, edit, (workspace) => {
    requireOwn(workspace, "rules", "rules");
    const { rules, entry, result } = change((workspace.stored.rules ?? []).map(fileRuleOf));
    return { stored: { ...workspace.stored, rules: checkedRules(workspace, rules) }, entries: [entry], result };
  });
}

function checkedRules({ settings }: StoredWorkspace, rules: readonly FileRule[]): readonly Rule[] {
  const hours = settings.businessHours === null ? {} : { business_hours: someHours };
  return checkedWorkspace({ rules, ...hours }).rules ?? [];
}

/** A rule that assigns to nobody would leave conversations where they are, without a word. */
async function requireAssignees(db: Reader, workspaceId: string, { then = [] }: Partial<FileRule>): Promise<void> {
  for (const { assign } of then) {
    if (assign === undefined || !assign.includes("@")) continue;
    const agent = db.selectFrom("agents").select("id").where("workspace_id", "=", workspaceId);
    if ((await agent.where("email", "=", assign.trim().toLowerCase()).executeTakeFirst()) === undefined) {
      throw new Problem("invalid_parameter", `assign: no agent of this workspace has the address ${assign}.`);
    }
  }
}

function ruleOf(rules: readonly FileRule[], name: string): FileRule {
  const found = rules.find((rule) => rule.name === name);
  if (found === undefined) throw noSuchRule();
  return found;
}

const noSuchRule = (): Problem => new Problem("not_found", "There is no rule of this name.");

function requireFree(rules: readonly FileRule[], name: string): void {
  if (rules.some((rule) => rule.name === name)) {
    throw new Problem("already_exists", `name: there is a rule named ${name}.`);
  }
}

/** Items of each list in the answer of a dry run. */
const shownMax = 500;
const tryMs = 5_000;

/** Finds which of these rules would have fired on conversations of the last days. Rules that are not saved yet are fine. */
export async function tryRules(
  { store, clock }: SettingsDependencies,
  workspaceId: string,
  given: { readonly rules: readonly FileRule[]; readonly days: number; readonly conversations: number },
) {
  const workspace = await readStored(store.read, workspaceId);
  const now = clock.now();
  const { conversations, fired, notFired, isComplete } = await dryRunRules(store, {
    workspaceId,
    rules: checkedRules(workspace, given.rules),
    businessHours: workspace.settings.businessHours,
    slaTargets: workspace.settings.slaTargets,
    conversationId: undefined,
    limit: given.conversations,
    startedSince: now - given.days * dayMs,
    withinMs: tryMs,
    now,
  });
  return {
    conversations,
    is_complete: isComplete,
    fired: fired.slice(0, shownMax),
    has_more: fired.length > shownMax,
    not_fired: notFired.slice(0, shownMax),
  };
}

/** Firings are searched for in the audit log of so many days. */
const firingDays = 30;

/** Recent firings of a rule, newest first, each with its reasons. `before`: the id of an entry. */
export async function listFirings(
  { store, clock }: SettingsDependencies,
  workspaceId: string,
  name: string,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
) {
  const { stored } = await readStored(store.read, workspaceId);
  if (stored.rules?.every((rule) => rule.name !== name) ?? true) throw noSuchRule();
  const rows = await store.read
    .selectFrom("audit")
    .select(["id", "conversation_id", "to_value", "detail", "created_at"])
    .where("workspace_id", "=", workspaceId)
    // Ids sort by time, so that the index by workspace and id bounds the search.
    .where("id", ">", idStart("aud", clock.now() - firingDays * dayMs))
    .$if(before !== undefined, (query) => query.where("id", "<", before ?? ""))
    .where("action", "=", "rule_fired")
    .where("actor_id", "=", `rule:${name}`)
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const shown = rows.slice(0, limit);
  return {
    firings: shown.map(({ conversation_id, to_value, detail, created_at }) => ({
      conversation_id,
      message_id: to_value,
      why: detail ?? "",
      at: new Date(created_at).toISOString(),
    })),
    next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null,
  };
}
