export type MailOutcome =
  | { readonly kind: "stored"; readonly thread: string; readonly duplicate: boolean }
  | { readonly kind: "noted" }
  | {
      readonly kind: "ignored";
      /** Completes "because …". */
      readonly reason: string;
      /** A mail of Parley's own, or one that an agent has sent: agents need no notice of it. */
      readonly isOwn: boolean;
    };

export const ignored = (reason: string): MailOutcome => ({ kind: "ignored", reason, isOwn: false });
export const ignoredOwn = (reason: string): MailOutcome => ({ kind: "ignored", reason, isOwn: true });
