/** A rule as `/admin/v1/rules` sends it: in the form of the configuration file. */
export interface Rule {
  readonly name: string;
  readonly enabled?: boolean;
  readonly when: Parts;
  readonly if?: Parts;
  readonly then: readonly Parts[];
}

export type Parts = Readonly<Record<string, unknown>>;

export interface RuleList {
  readonly rules: readonly Rule[];
  readonly managed_by_file: boolean;
}

/** How a part of a rule is entered, and how it reads. */
export interface Part {
  readonly key: string;
  readonly label: string;
  readonly shown: "text" | "area" | "number" | "list" | "choice" | "choices" | "yes-no" | "true";
  readonly options?: readonly string[];
  /** The words before and behind the value. */
  readonly words: readonly [before: string, behind: string];
}

const statuses = ["open", "escalated", "claimed", "snoozed", "resolved", "archived"];
export const priorities = ["urgent", "high", "normal", "low"];

export const part = (
  key: string,
  label: string,
  shown: Part["shown"],
  words: Part["words"],
  options?: readonly string[],
): Part => ({ key, label, shown, words, ...(options !== undefined && { options }) });

export const triggers: readonly Part[] = [
  part("message", "A message was added", "choice", ["a message of the", "was added"], ["customer", "bot", "agent"]),
  part("status", "The status changed", "choices", ["the status becomes", ""], statuses),
  part("tagged", "A tag was added", "text", ["the tag", "was added"]),
  part("untagged", "A tag was removed", "text", ["the tag", "was removed"]),
  part("sla", "The SLA changed", "choice", ["the SLA is", ""], ["at_risk", "breached"]),
  part("minutes", "Time has passed", "number", ["", "minutes have passed"]),
];

/** Goes with `minutes`. */
export const since: Part = part(
  "since",
  "Counted from",
  "choice",
  ["since", ""],
  ["last_message", "status", "started"],
);

export const conditions: readonly Part[] = [
  part("words", "The message has one of these words", "list", ["the message has", ""]),
  part("metadata", "Its metadata have one of these (key=value)", "list", ["its metadata have", ""]),
  part("languages", "The message is in (code)", "list", ["the message is in", ""]),
  part("confidences", "The bot's confidence is", "choices", ["the bot's confidence is", ""], ["high", "medium", "low"]),
  part("channels", "The channel is", "list", ["the channel is", ""]),
  part("statuses", "The status is", "choices", ["the status is", ""], statuses),
  part("priorities", "The priority is", "choices", ["the priority is", ""], priorities),
  part("tags", "It has all of these tags", "list", ["it has the tags", ""]),
  part("without_tags", "It has none of these tags", "list", ["it has no tag", ""]),
  part("plans", "The verified customer's plan is", "list", ["the customer's plan is", ""]),
  part("verified", "The customer is verified", "yes-no", ["the customer is verified:", ""]),
  part("business_hours", "Business hours", "choice", ["it is business hours:", ""], ["open", "closed"]),
  part("unanswered", "The last message is unanswered", "yes-no", ["the customer waits for an answer:", ""]),
  part("assigned", "It is assigned to an agent", "yes-no", ["it is assigned:", ""]),
];

export const actions: readonly Part[] = [
  part("tag", "Add tags", "list", ["add the tag", ""]),
  part("untag", "Remove tags", "list", ["remove the tag", ""]),
  part("priority", "Set the priority", "choice", ["set the priority", ""], priorities),
  part("assign", "Assign to (e-mail address or round_robin)", "text", ["assign to", ""]),
  part("escalate", "Hand over to people, with this reason", "text", ["hand over:", ""]),
  part("note", "Add an internal note", "area", ["add the note", ""]),
  part("notify", "Notify the team", "area", ["notify the team", ""]),
  part("reply", "Reply to the customer", "area", ["reply", ""]),
  part("snooze_hours", "Snooze for (hours)", "number", ["snooze for", "hours"]),
  part("resolve", "Resolve it", "true", ["resolve it", ""]),
];

function wordsOf({ words: [before, behind], shown }: Part, value: unknown): string {
  const said =
    shown === "true"
      ? ""
      : shown === "yes-no"
        ? value === true
          ? "yes"
          : "no"
        : Array.isArray(value)
          ? value.join(", ")
          : shown === "area"
            ? `“${String(value)}”`
            : String(value);
  return [before, said, behind].filter((each) => each !== "").join(" ");
}

/** Those parts that have a value, in words. */
export const sentence = (of: readonly Part[], parts: Parts): readonly string[] =>
  of.filter(({ key }) => parts[key] !== undefined).map((each) => wordsOf(each, parts[each.key]));

/** The rule in words. */
export function describeRule({ when, if: conditionParts = {}, then }: Rule): string {
  const trigger = sentence([...triggers, since], when).join(" ");
  const checks = sentence(conditions, conditionParts);
  const done = then.flatMap((action) => sentence(actions, action)).join(", then ");
  return `When ${trigger}${checks.length === 0 ? "" : ` and ${checks.join(" and ")}`}: ${done}.`;
}

/** The first value of a part that was just chosen. */
export function emptyValue({ key, shown, options }: Part): unknown {
  switch (shown) {
    case "list":
    case "choices":
      return [];
    case "number":
      return key === "snooze_hours" ? 24 : 60;
    case "yes-no":
    case "true":
      return true;
    case "choice":
      return options?.[0] ?? "";
    default:
      return "";
  }
}
