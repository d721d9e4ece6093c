import type { LookupFunction } from "node:net";
import type { Log } from "#runtime/log.ts";

/**
 * The way to an account by the platform's own page (OAuth 2.0, authorization code): the administrator enters an app's
 * credentials, the platform asks them for consent, and gives the rest of the settings. The host keeps the state.
 */
export interface AppInstall<Config = unknown> {
  /** Text of the button. */
  readonly label: string;
  /** Names of the settings that the administrator enters before. */
  readonly settings: readonly string[];
  /** Those of them that are needed. */
  readonly required: readonly string[];
  /**
   * The platform's page. It leads back to `redirectUrl` with `state`, and with `code` or `error`. `before`: the details of
   * the account's last installation.
   */
  consentUrl(
    config: Partial<Config>,
    given: {
      readonly redirectUrl: string;
      readonly state: string;
      readonly before?: Installation["details"];
    },
  ): string;
  /** Exchanges the code. Throws {@link InstallRefusal}. */
  exchange(config: Partial<Config>, given: CodeExchange): Promise<Installation<Config>>;
  /** For the administrator: what an `error` of the platform means, and the fix. */
  refusal(error: string): string;
}

export interface CodeExchange {
  readonly redirectUrl: string;
  readonly code: string;
  readonly lookup: LookupFunction;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** An app in a company's workspace on the platform. */
export interface Installation<Config = unknown> {
  /** The settings that the platform has given. */
  readonly settings: Partial<Config>;
  /** The company's name on the platform. */
  readonly name: string;
  /** The same for each installation of this app in this workspace of the platform. */
  readonly key: string;
  /** No secrets. Stored with the account. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The permissions that the app needs and lacks, with the fix. Null: none. */
  readonly missing: string | null;
  /** The same for the agents' desk. */
  readonly missingForDesk: string | null;
}

/** Why an installation is not stored, with its fix, for the administrator. */
export class InstallRefusal extends Error {
  override readonly name = "InstallRefusal";
}
