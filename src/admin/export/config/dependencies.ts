import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Store } from "#database/contract.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";
import type { Documents } from "#knowledge/documents/documents.ts";
import type { InvitationMail } from "#admin/team/invitations.ts";

export interface ApplyDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly allowPrivate: AllowPrivate;
  readonly documents: Documents;
  /** Null: no mail is sent to people who are invited. */
  readonly mail: InvitationMail | null;
}
