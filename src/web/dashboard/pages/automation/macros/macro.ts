import type { Part, Parts } from "#web/dashboard/pages/automation/rules/rule.ts";
import { part, priorities, sentence } from "#web/dashboard/pages/automation/rules/rule.ts";

/** A macro as `/admin/v1/macros` sends it: in the form of the configuration file. */
export interface Macro {
  readonly name: string;
  readonly actions: readonly Parts[];
  /** Why it cannot be applied. */
  readonly problems: readonly string[];
}

export interface MacroList {
  readonly macros: readonly Macro[];
  readonly managed_by_file: boolean;
}

export const macroActions: readonly Part[] = [
  part("reply", "Reply to the customer", "area", ["reply", ""]),
  part("note", "Add an internal note", "area", ["add the note", ""]),
  part("tag", "Add tags", "list", ["add the tag", ""]),
  part("untag", "Remove tags", "list", ["remove the tag", ""]),
  part("priority", "Set the priority", "choice", ["set the priority", ""], priorities),
  part("assign", "Assign to (me, or an agent's e-mail address)", "text", ["assign to", ""]),
  part("release", "Give it back to the bot", "true", ["give it back to the bot", ""]),
  part("escalate", "Hand over to people", "true", ["hand over to people", ""]),
  part("snooze_hours", "Snooze for (hours)", "number", ["snooze for", "hours"]),
  part("snooze_until_reply", "Snooze until the customer replies", "true", ["snooze until the customer replies", ""]),
  part("resolve", "Resolve it", "true", ["resolve it", ""]),
];

/** The macro in words. */
export function describeMacro({ actions }: Macro): string {
  const words = actions.flatMap((action) => sentence(macroActions, action)).join(", then ");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
