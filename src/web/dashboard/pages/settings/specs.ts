import type { Option } from "#web/dashboard/ui/fields/choice.tsx";

/** How a setting is shown, and how its value becomes that of a field. */
export type Shown =
  | { readonly kind: "text" | "area"; readonly maxLength: number; readonly mono?: true }
  | { readonly kind: "number"; readonly min: number; readonly max: number; readonly unit: string }
  /** Empty: none, which is `false` in the configuration. */
  | {
      readonly kind: "limit";
      readonly min: number;
      readonly max: number;
      readonly unit: string;
      readonly step?: number;
    }
  | { readonly kind: "switch" | "colour" | "tags" | "quota" }
  | { readonly kind: "select"; readonly options: readonly Option[] }
  /** A list, one a line. */
  | { readonly kind: "lines" }
  /** Lists of words of one meaning: a line each, with commas. */
  | { readonly kind: "groups" };

export interface SettingSpec {
  readonly key: string;
  readonly label: string;
  readonly hint?: string;
  readonly shown: Shown;
}

const text = (key: string, label: string, hint: string, maxLength = 2_000): SettingSpec => ({
  key,
  label,
  hint,
  shown: { kind: maxLength > 200 ? "area" : "text", maxLength },
});
const days = (key: string, label: string, hint: string, max = 90): SettingSpec => ({
  key,
  label,
  hint,
  shown: { kind: "limit", min: 1, max, unit: "days" },
});
const limit = (key: string, label: string, hint: string, unit: string): SettingSpec => ({
  key,
  label,
  hint,
  shown: { kind: "limit", min: 1, max: 1_000_000_000, unit },
});

export const generalSpecs: readonly SettingSpec[] = [
  text("bot_name", "Name of the bot", "Customers see it on its answers.", 80),
  {
    key: "strictness",
    label: "When the bot answers",
    shown: {
      kind: "select",
      options: [
        { value: "strict", label: "Only when it is sure" },
        { value: "helpful", label: "Also when it may be right" },
      ],
    },
  },
  {
    key: "satisfaction_survey",
    label: "Ask for a rating after a resolve",
    hint: "Once per conversation, a minute later, if the bot answered or an agent replied.",
    shown: { kind: "switch" },
  },
  {
    key: "answers.synonyms",
    label: "Words of the same meaning",
    hint: "One group a line, with commas: trousers, pants.",
    shown: { kind: "groups" },
  },
  text("timezone", "Time zone of reports", "Such as Europe/Berlin. Empty: that of the business hours, else UTC.", 64),
  days("recrawl_days", "Crawl websites again after", "Empty: only on request."),
  {
    key: "identity_public_keys",
    label: "Public keys for user tokens",
    hint: "PEM, one after the other. They prove who is signed in on your site.",
    shown: { kind: "area", maxLength: 20_000, mono: true },
  },
];

export const textSpecs: readonly SettingSpec[] = [
  text("messages.handover", "Hand-over", "Sent once when the conversation is handed over to people."),
  text("messages.unknown", "No answer", "Sent when the documents hold no answer."),
  text("messages.waiting", "Waiting", "Answer to an API client while a person has the conversation."),
  text("messages.survey", "Survey", "Asks for a rating from 1 to 5 after a resolve."),
  text("messages.rated", "Thanks for a rating", "Sent after a rating that the customer has typed."),
  text("messages.files_only", "Files only", "Sent after a message with files and no text."),
  text("messages.lookup_failed", "Skill failed", "Sent when a look-up fails."),
  text("messages.lookup_unsure", "Skill unsure", "Sent when the outcome of a call is unknown."),
  text("messages.lookup_unverified", "Skill needs sign-in", "Sent when a look-up requires a verified customer."),
];

export const escalationSpecs: readonly SettingSpec[] = [
  {
    key: "escalation.phrases",
    label: "Phrases that ask for a person",
    hint: "One per line. Leave it empty to use the built-in recognition.",
    shown: { kind: "lines" },
  },
  {
    key: "escalation.low_answers",
    label: "Unsure answers in a row",
    hint: "After so many answers of low confidence, people take over.",
    shown: { kind: "number", min: 1, max: 20, unit: "answers" },
  },
  {
    key: "escalation.anger",
    label: "Anger",
    hint: "From 0.1 (a little) to 1 (very angry). Empty: never hand over for anger.",
    shown: { kind: "limit", min: 0.1, max: 1, step: 0.1, unit: "" },
  },
  {
    key: "escalation.anger_by",
    label: "Anger is measured by",
    shown: {
      kind: "select",
      options: [
        { value: "words", label: "Lists of words" },
        { value: "model", label: "The language model, if there is one" },
      ],
    },
  },
];

export const closingSpecs: readonly SettingSpec[] = [
  days("auto_resolve_days", "Resolve after", "Days without a message. Empty: never."),
  days("auto_archive_days", "Archive after", "Days since it was resolved. Empty: never."),
];

export const retentionSpecs: readonly SettingSpec[] = [
  days(
    "retention_days",
    "Delete conversations after",
    "Days since the last message. Empty: as many as the plan allows.",
    2_192,
  ),
];

export const limitSpecs: readonly SettingSpec[] = [
  {
    key: "queries_per_month",
    label: "Questions over the API a month",
    hint: "A number, or unlimited. Empty: the plan's allowance.",
    shown: { kind: "quota" },
  },
  limit("limit_minute", "Requests of a key a minute", "On the plan enterprise. Empty: the plan's limit.", "requests"),
  limit("limit_day", "Requests of a key a day", "On the plan enterprise. Empty: the plan's limit.", "requests"),
  limit("user_limit_minute", "Questions of a user a minute", "From the plan growth on. Empty: no limit.", "questions"),
  limit("user_limit_day", "Questions of a user a day", "From the plan growth on. Empty: no limit.", "questions"),
  limit("widget.visitor_mb_per_day", "Files of a visitor a day", "Empty: no limit.", "MB"),
  limit("widget.address_mb_per_day", "Files from an address a day", "Empty: no limit.", "MB"),
  limit("widget.mb_per_day", "Files of all visitors a day", "Empty: no limit.", "MB"),
];

export const modelSpecs: readonly SettingSpec[] = [
  {
    key: "model_tokens_per_month",
    label: "Tokens a month",
    hint: "When they are used up, answers are the documents' own sentences until the next month (UTC). Empty: no limit.",
    shown: { kind: "limit", min: 1, max: 1_000_000_000_000, unit: "tokens" },
  },
];

export const appearanceSpecs: readonly SettingSpec[] = [
  text("widget.title", "Title", "Heading of the chat.", 80),
  text("widget.greeting", "Greeting", "What the chat says before the first question.", 500),
  { key: "widget.color", label: "Colour", shown: { kind: "colour" } },
];

export const chatSpecs: readonly SettingSpec[] = [
  {
    key: "widget.origins",
    label: "Websites that may show the chat",
    hint: "Such as https://shop.example. None: any website.",
    shown: { kind: "tags" },
  },
  {
    key: "widget.lead_capture",
    label: "Ask visitors for name and e-mail address",
    shown: {
      kind: "select",
      options: [
        { value: "on_handover", label: "When people take over" },
        { value: "off", label: "Never" },
      ],
    },
  },
  { key: "widget.files", label: "Visitors may send files", shown: { kind: "switch" } },
  {
    key: "widget.file_types",
    label: "Types of files",
    hint: "Such as image/* or application/pdf. None: any.",
    shown: { kind: "tags" },
  },
  {
    key: "widget.file_max_mb",
    label: "Size of a file",
    hint: "Empty: the limit of the installation.",
    shown: { kind: "number", min: 1, max: 1_024, unit: "MB" },
  },
];
