import type { Priority } from "#domain/conversation/sla.ts";

/** One action of a macro. Agents can do each of them by itself, too. */
export type MacroAction =
  /** With the placeholders of saved replies. */
  | { readonly kind: "reply"; readonly text: string }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "tag"; readonly tags: readonly string[] }
  | { readonly kind: "untag"; readonly tags: readonly string[] }
  | { readonly kind: "priority"; readonly priority: Priority }
  /** An agent's address; null: the agent who applies the macro. */
  | { readonly kind: "assign"; readonly to: string | null }
  /** Gives it back to the bot. */
  | { readonly kind: "release" }
  | { readonly kind: "escalate" }
  /** Null: until the customer replies. */
  | { readonly kind: "snooze"; readonly hours: number | null }
  | { readonly kind: "resolve" };

/** Several actions on a conversation that agents apply at once. */
export interface Macro {
  readonly name: string;
  readonly actions: readonly MacroAction[];
}

/** The action in words, as an order. */
export function describeMacroAction(action: MacroAction): string {
  switch (action.kind) {
    case "reply":
      return "Reply";
    case "note":
      return "Add a note";
    case "tag":
      return `Add the ${tagWords(action.tags)}`;
    case "untag":
      return `Remove the ${tagWords(action.tags)}`;
    case "priority":
      return `Set the priority to ${action.priority}`;
    case "assign":
      return `Assign to ${action.to ?? "me"}`;
    case "release":
      return "Give it back to the assistant";
    case "escalate":
      return "Hand over to people";
    case "snooze":
      return action.hours === null ? "Snooze until the customer replies" : `Snooze for ${hourWords(action.hours)}`;
    case "resolve":
      return "Resolve";
  }
}

const tagWords = (tags: readonly string[]): string => `${tags.length === 1 ? "tag" : "tags"} ${tags.join(", ")}`;
const hourWords = (hours: number): string => (hours === 1 ? "1 hour" : `${hours} hours`);

/** Reasons for which the macro cannot be applied. `agents`: addresses of the agents who may answer. */
export const macroProblems = ({ actions }: Macro, agents: ReadonlySet<string>): readonly string[] =>
  actions.flatMap((action) =>
    action.kind === "assign" && action.to !== null && !agents.has(action.to)
      ? [`${action.to} is no agent of this workspace who may answer.`]
      : [],
  );
