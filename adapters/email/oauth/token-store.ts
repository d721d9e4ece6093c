import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";
import type { EmailConfig } from "../config.ts";

/** An access token, and when it is to be renewed. */
export interface Issued {
  readonly token: string;
  readonly until: number;
}

export type TokenHost = Pick<ChannelHost, "clock" | "log" | "rememberSecret" | "recallSecret" | "recall" | "exchange">;

/** The mailbox's tokens, as all processes know them: the server's, and those of commands such as doctor. */
export interface TokenStore {
  /** The newest refresh token; that of the configuration, once somebody has put another one there. */
  read(): Promise<{ readonly refresh: string | undefined; readonly access: Issued | undefined }>;
  keep(refresh: string | undefined, access: Issued): Promise<void>;
  /**
   * Renews while no other process does; `found` gives what one that did has left meanwhile, and then nothing is renewed.
   * Rejects when `signal` aborts meanwhile, and where others have it for longer than one that has died could.
   */
  alone<T>(found: () => Promise<T | undefined>, renew: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const keptSchema = Type.Object({
  given: Type.String(),
  token: Type.String(),
  /** Absent in what earlier versions have kept. */
  access: Type.Optional(Type.Object({ token: Type.String(), until: Type.Number(), asked: Type.String() })),
});
const keptName = "oauth refresh token";
const leaseName = "oauth renewal";
/** Longer than the provider is waited for. */
const leaseMs = 45_000;
const lookMs = 200;
/** One that has died is waited for, and two that try in vain. */
const waitMs = 3 * leaseMs;

export function createTokenStore(config: EmailConfig, host: TokenHost): TokenStore {
  const given = config.oauth_refresh_token;
  const { clock } = host;
  const givenHash = hashOf(given ?? "");
  // A token for other rights is none for these.
  const asked = hashOf(JSON.stringify([config.oauth_token_url, config.oauth_client_id, config.oauth_scope ?? null]));

  return {
    async read() {
      const stored = await host.recallSecret(keptName);
      const kept: unknown = stored === null ? null : JSON.parse(stored);
      if (!Value.Check(keptSchema, kept) || kept.given !== givenHash) return { refresh: given, access: undefined };
      const { access } = kept;
      return {
        refresh: given === undefined ? undefined : kept.token,
        access: access?.asked === asked ? { token: access.token, until: access.until } : undefined,
      };
    },
    keep: (refresh, { token, until }) =>
      host.rememberSecret(
        keptName,
        JSON.stringify({ given: givenHash, token: refresh ?? "", access: { token, until, asked } }),
      ),
    async alone(found, renew, signal) {
      const until = clock.now() + waitMs;
      for (;;) {
        signal.throwIfAborted();
        const before = await host.recall(leaseName);
        if (Number.parseInt(before ?? "0", 10) <= clock.now()) {
          const lease = `${clock.now() + leaseMs} ${randomUUID()}`;
          if (await host.exchange(leaseName, before, lease, leaseMs)) {
            try {
              return (await found()) ?? (await renew());
            } finally {
              await host.exchange(leaseName, lease, `0 ${randomUUID()}`, leaseMs).catch((error: unknown) => {
                host.log.warn({ err: error }, "email: releasing the token lock failed");
              });
            }
          }
        }
        // By the time of this machine, as the provider's answer is waited for.
        await pause(lookMs, undefined, { signal });
        const left = await found();
        if (left !== undefined) return left;
        if (clock.now() >= until) {
          throw new Error(
            "other processes renew the mailbox's access token all the time, and none gets one: see their logs",
          );
        }
      }
    },
  };
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
