/** The things that administrators change, as the audit log names them. */
export const adminSubjects = [
  "access_token",
  "agent",
  "api_key",
  "channel",
  "customer",
  "document",
  "invitation",
  "macro",
  "oauth_client",
  "question",
  "rule",
  "saved_reply",
  "session",
  "settings",
  "sign_in",
  "skill",
  "team",
  "webhook",
  "work",
  "workspace",
] as const;
export type AdminSubject = (typeof adminSubjects)[number];

export const adminVerbs = [
  "accepted",
  "answered",
  "ignored",
  "reopened",
  "added",
  "changed",
  "removed",
  "revoked",
  "rotated",
  "tested",
  "replayed",
  "exported",
  "erased",
  "failed",
  "retried",
  "dismissed",
] as const;
export type AdminVerb = (typeof adminVerbs)[number];

/** A change by an administrator, in the audit log of the workspace. */
export type AdminAction = `${AdminSubject}_${AdminVerb}`;
