import type { AuditAction } from "#domain/conversation/message.ts";
import type { AdminAction, AdminSubject, AdminVerb } from "#domain/workspace/admin-action.ts";

const subjects: Readonly<Record<AdminSubject, string>> = {
  access_token: "the access token",
  agent: "the agent",
  api_key: "the API key",
  channel: "the channel",
  customer: "a customer",
  document: "the document",
  invitation: "the invitation of",
  macro: "the macro",
  oauth_client: "the OAuth client",
  question: "the question",
  rule: "the rule",
  saved_reply: "the saved reply",
  session: "the session of",
  settings: "the setting",
  sign_in: "the sign-in:",
  skill: "the skill",
  team: "the team",
  webhook: "the webhook",
  work: "the given-up work:",
  workspace: "the workspace's",
};

const verbs: Readonly<Record<AdminVerb, string>> = {
  accepted: "accepted",
  answered: "answered",
  ignored: "ignored",
  reopened: "reopened",
  added: "added",
  changed: "changed",
  removed: "removed",
  revoked: "revoked",
  rotated: "rotated the secret of",
  tested: "tested",
  replayed: "replayed events of",
  exported: "exported",
  erased: "erased",
  failed: "failed at",
  retried: "retried",
  dismissed: "dismissed",
};

/** Words for actions whose subject and verb alone would read badly. */
const phrases: Readonly<Partial<Record<AdminAction, string>>> = {
  customer_exported: "exported all data of a customer",
  customer_erased: "erased a customer",
  invitation_accepted: "accepted the invitation",
  session_revoked: "signed out",
  sign_in_failed: "failed to sign in",
};

const conversationPhrases: Readonly<Record<AuditAction, string>> = {
  status_changed: "changed the status",
  assigned: "assigned the conversation",
  tagged: "added a tag",
  untagged: "removed a tag",
  priority_changed: "changed the priority",
  note_added: "added a note",
  deleted: "deleted",
  exported: "exported",
  skill_called: "used a skill",
  rule_fired: "fired",
  rated: "rated the conversation",
  contact_merged: "merged two customers",
  contact_unmerged: "took the merge of two customers back",
  secret_rotated: "rotated",
};

const reasoned = new Set<string>(["status_changed", "assigned", "priority_changed", "skill_called"]);
/** Whether the detail of such an entry says why, or with which result. Others name a thing by it. */
export const hasReason = (action: string): boolean => reasoned.has(action);

const adminPhrases = new Map<string, string>(
  Object.entries(subjects).flatMap(([subject, thing]) =>
    Object.entries(verbs).map(([verb, done]) => [`${subject}_${verb}`, `${done} ${thing}`] as const),
  ),
);

/** The action as a part of a sentence, such as "added the API key". */
export function actionWords(action: AuditAction | AdminAction): string {
  const known: Readonly<Record<string, string>> = { ...phrases, ...conversationPhrases };
  return known[action] ?? adminPhrases.get(action) ?? action.replaceAll("_", " ");
}

const labels: Readonly<Record<AdminSubject, string>> = {
  access_token: "Access tokens",
  agent: "Agents",
  api_key: "API keys",
  channel: "Channels",
  customer: "Customers",
  document: "Documents",
  invitation: "Invitations",
  macro: "Macros",
  oauth_client: "OAuth clients",
  question: "Unanswered questions",
  rule: "Rules",
  saved_reply: "Saved replies",
  session: "Sessions",
  settings: "Settings",
  sign_in: "Sign-in",
  skill: "Skills",
  team: "Teams",
  webhook: "Webhooks",
  work: "Given-up work",
  workspace: "Workspace",
};

const conversationLabels: Readonly<Record<AuditAction, string>> = {
  status_changed: "Status of conversations",
  assigned: "Assignments",
  tagged: "Tags added",
  untagged: "Tags removed",
  priority_changed: "Priorities",
  note_added: "Notes",
  deleted: "Deletions",
  exported: "Exports",
  skill_called: "Skills used",
  rule_fired: "Rules fired",
  rated: "Ratings",
  contact_merged: "Customers merged",
  contact_unmerged: "Customers unmerged",
  secret_rotated: "Secrets rotated",
};

/** Choices of the filter. A value is an action, or the beginning of several. */
export const actionOptions = Object.entries({ ...labels, ...conversationLabels }).map(([value, label]) => ({
  value,
  label,
}));
