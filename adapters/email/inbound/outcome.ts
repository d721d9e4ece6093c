export type MailOutcome =
  | { readonly kind: "stored"; readonly thread: string; readonly duplicate: boolean }
  | { readonly kind: "noted" }
  | { readonly kind: "ignored"; readonly reason: string };

export const ignored = (reason: string): MailOutcome => ({ kind: "ignored", reason });
