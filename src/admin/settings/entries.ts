import { isDeepStrictEqual } from "node:util";
import type { AdminSubject } from "#domain/workspace/admin-action.ts";
import type { WorkspaceSettings } from "#domain/workspace/settings.ts";
import { settingsOf } from "#domain/workspace/settings.ts";
import { fileMacroOf } from "#config/sections/macros.ts";
import { fileRuleOf } from "#config/sections/rule-form.ts";
import { allSettingKeys, fileValueOf } from "#config/setting-keys.ts";
import { providerForPeople } from "#admin/sign-in/provider/provider-settings.ts";
import type { Entry } from "./change.ts";
import { forPeople } from "./check.ts";

/** The entries of the audit log for all settings of a workspace that differ, and for each rule, skill, macro and saved reply. */
export function settingEntries(
  before: Partial<WorkspaceSettings>,
  stored: Partial<WorkspaceSettings>,
): readonly Entry[] {
  const [settings, next] = [settingsOf(before), settingsOf(stored)];
  const changed = allSettingKeys.flatMap((key): Entry[] => {
    const [from, to] = [fileValueOf(key, settings), fileValueOf(key, next)];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ action: "settings_changed", subject: key, from: forPeople(from), to: forPeople(to) }];
  });
  const deskOf = (of: Partial<WorkspaceSettings>): string | null => forPeople(of.desk);
  if (deskOf(before) !== deskOf(stored)) {
    changed.push({ action: "settings_changed", subject: "desk", from: deskOf(before), to: deskOf(stored) });
  }
  const providerOf = ({ singleSignOn }: Partial<WorkspaceSettings>) => providerForPeople(singleSignOn ?? null);
  if (!isDeepStrictEqual(before.singleSignOn ?? null, stored.singleSignOn ?? null)) {
    changed.push({ action: "sign_in_changed", subject: "provider", from: providerOf(before), to: providerOf(stored) });
  }
  const byName = <T extends { readonly name: string }>(list: readonly T[] = []) =>
    Object.fromEntries(list.map((each) => [each.name, each]));
  return [
    ...changed,
    ...listEntries("rule", byName(before.rules?.map(fileRuleOf)), byName(stored.rules?.map(fileRuleOf)), true),
    ...listEntries("skill", byName(before.skills), byName(stored.skills), false),
    ...listEntries("macro", byName(before.macros?.map(fileMacroOf)), byName(stored.macros?.map(fileMacroOf)), true),
    ...listEntries("saved_reply", before.savedReplies ?? {}, stored.savedReplies ?? {}, true),
    ...orderEntry(before, stored),
  ];
}

/** `isShown`: the values may be in the audit log. */
function listEntries(
  subject: AdminSubject,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
  isShown: boolean,
): readonly Entry[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name): Entry[] => {
    const [from, to] = [before[name], after[name]];
    if (isDeepStrictEqual(from, to)) return [];
    const verb = from === undefined ? "added" : to === undefined ? "removed" : "changed";
    const values = isShown ? { from: forPeople(from), to: forPeople(to) } : {};
    return [{ action: `${subject}_${verb}`, subject: name, ...values }];
  });
}

function orderEntry(before: Partial<WorkspaceSettings>, after: Partial<WorkspaceSettings>): readonly Entry[] {
  const orderOf = ({ rules = [] }: Partial<WorkspaceSettings>, of: readonly string[]): readonly string[] =>
    rules.map(({ name }) => name).filter((name) => of.includes(name));
  const namesOf = ({ rules = [] }: Partial<WorkspaceSettings>): readonly string[] => rules.map(({ name }) => name);
  const [from, to] = [orderOf(before, namesOf(after)).join(", "), orderOf(after, namesOf(before)).join(", ")];
  return from === to ? [] : [{ action: "rule_changed", subject: "order", from: forPeople(from), to: forPeople(to) }];
}
