import type { Static } from "typebox";
import type { Action, Conditions, Rule, Trigger } from "#domain/workspace/automation.ts";
import type { ruleSchema } from "./automation.ts";

/** A rule as the configuration file writes it. */
export type FileRule = Static<typeof ruleSchema>;

const minuteMs = 60_000;
const authors = { user: "customer", assistant: "bot", agent: "agent" } as const;

/** The form of a rule in the configuration file. */
export function fileRuleOf({ name, enabled, when, conditions, actions }: Rule): FileRule {
  const conditionsInFile = fileConditions(conditions);
  return {
    name,
    ...(enabled === false ? { enabled } : {}),
    when: fileTrigger(when),
    ...(Object.keys(conditionsInFile).length === 0 ? {} : { if: conditionsInFile }),
    // oxlint-disable-next-line unicorn/no-thenable -- the key of the file; its value is a list, not a function.
    then: actions.map(fileAction),
  };
}

function fileTrigger(when: Trigger): FileRule["when"] {
  switch (when.kind) {
    case "message":
      return { message: authors[when.by] };
    case "status":
      return { status: [...when.to] };
    case "tagged":
      return { tagged: when.tag };
    case "untagged":
      return { untagged: when.tag };
    case "sla":
      // A rule reacts to the two states that need attention.
      return when.state === "in_compliance" ? {} : { sla: when.state };
    case "time":
      return { minutes: when.afterMs / minuteMs, ...(when.since === "last_message" ? {} : { since: when.since }) };
  }
}

function fileConditions({ withoutTags, businessHours, ...same }: Conditions): NonNullable<FileRule["if"]> {
  // The other conditions have one name in both forms.
  return JSON.parse(
    JSON.stringify({ ...same, without_tags: withoutTags, business_hours: businessHours }),
  ) as NonNullable<FileRule["if"]>;
}

function fileAction(action: Action): FileRule["then"][number] {
  switch (action.kind) {
    case "tag":
      return { tag: [...action.tags] };
    case "untag":
      return { untag: [...action.tags] };
    case "assign":
      return {
        assign: action.to ?? "round_robin",
        ...(action.among.length === 0 ? {} : { among: [...action.among] }),
        ...(action.maxClaimed === null ? {} : { max_claimed: action.maxClaimed }),
      };
    case "priority":
      return { priority: action.priority };
    case "escalate":
      return { escalate: action.reason };
    case "note":
      return { note: action.text };
    case "notify":
      return { notify: action.text };
    case "reply":
      return { reply: action.text };
    case "snooze":
      return { snooze_hours: action.hours };
    case "resolve":
      return { resolve: true };
  }
}
