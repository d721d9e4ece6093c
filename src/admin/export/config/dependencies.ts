import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Store } from "#database/contract.ts";
import type { AllowPrivate } from "#outbound/addresses.ts";

export interface ApplyDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly allowPrivate: AllowPrivate;
}
