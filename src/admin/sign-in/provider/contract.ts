import type { SingleSignOn } from "#domain/workspace/single-sign-on.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { GuardedFetch } from "#outbound/guarded-fetch.ts";

/** A person, as the provider describes them. Nothing of it is checked against the workspace's settings. */
export interface Person {
  readonly subject: string;
  readonly email: string | null;
  readonly isEmailVerified: boolean;
  readonly name: string | null;
  readonly groups: readonly string[];
}

/** Values that the browser keeps while its user is at the provider. */
export interface Challenge {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface ProviderClient {
  /** The address at the provider that the browser is sent to. Throws ProviderFault. */
  begin(provider: SingleSignOn, callback: string): Promise<{ readonly url: string; readonly challenge: Challenge }>;
  /** `returned`: the address that the provider sent the browser to. Throws ProviderFault. */
  finish(provider: SingleSignOn, returned: URL, challenge: Challenge): Promise<Person>;
  /** Reads the provider's description. Throws ProviderFault. */
  check(provider: SingleSignOn): Promise<void>;
}

export interface ClientDependencies {
  readonly guardedFetch: GuardedFetch;
  readonly secrets: Pick<Secrets, "open">;
  readonly clock: Clock;
}
