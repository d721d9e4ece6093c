import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import Type from "typebox";
import { Value } from "typebox/value";
import type { ChannelHost } from "#channels/contract.ts";
import type { EmailConfig } from "../config.ts";

/** An access token and the time of its renewal, epoch milliseconds. */
export interface Issued {
  readonly token: string;
  readonly until: number;
}

export type TokenHost = Pick<ChannelHost, "clock" | "log" | "state" | "lookup">;

/** The mailbox's tokens, shared by all processes: servers and commands such as `doctor`. */
export interface TokenStore {
  /** Returns the latest tokens. A changed refresh token in the configuration replaces stored ones. */
  read(): Promise<{ readonly refresh: string | undefined; readonly access: Issued | undefined }>;
  keep(refresh: string | undefined, access: Issued): Promise<void>;
  /**
   * Runs `renew` under a lease. While another process has the lease, polls `found` for its result and returns that instead.
   * Rejects when `signal` aborts, and when other processes hold the lease for too long.
   */
  alone<T>(found: () => Promise<T | undefined>, renew: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const keptSchema = Type.Object({
  given: Type.String(),
  token: Type.String(),
  /** Absent in records of earlier versions. */
  access: Type.Optional(Type.Object({ token: Type.String(), until: Type.Number(), asked: Type.String() })),
});
const keptName = "oauth refresh token";
const leaseName = "oauth renewal";
/** Longer than the timeout of a token request. */
const leaseMs = 45_000;
const lookMs = 200;
/** Outlasts the lease of a crashed process and two failed renewals. */
const waitMs = 3 * leaseMs;

export function createTokenStore(config: EmailConfig, host: TokenHost): TokenStore {
  const given = config.oauth_refresh_token;
  const { clock } = host;
  const givenHash = hashOf(given ?? "");
  // A token of another application or scope must not be used.
  const asked = hashOf(JSON.stringify([config.oauth_token_url, config.oauth_client_id, config.oauth_scope ?? null]));

  return {
    async read() {
      const stored = await host.state.getSecret(keptName);
      const kept: unknown = stored === null ? null : JSON.parse(stored);
      if (!Value.Check(keptSchema, kept) || kept.given !== givenHash) return { refresh: given, access: undefined };
      const { access } = kept;
      return {
        refresh: given === undefined ? undefined : kept.token,
        access: access?.asked === asked ? { token: access.token, until: access.until } : undefined,
      };
    },
    keep: (refresh, { token, until }) =>
      host.state.setSecret(
        keptName,
        JSON.stringify({ given: givenHash, token: refresh ?? "", access: { token, until, asked } }),
      ),
    async alone(found, renew, signal) {
      const until = clock.now() + waitMs;
      for (;;) {
        signal.throwIfAborted();
        const before = await host.state.get(leaseName);
        if (Number.parseInt(before ?? "0", 10) <= clock.now()) {
          const lease = `${clock.now() + leaseMs} ${randomUUID()}`;
          if (await host.state.compareAndSet(leaseName, before, lease, leaseMs)) {
            try {
              return (await found()) ?? (await renew());
            } finally {
              await host.state.compareAndSet(leaseName, lease, `0 ${randomUUID()}`, leaseMs).catch((error: unknown) => {
                host.log.warn({ err: error }, "email: releasing the token lock failed");
              });
            }
          }
        }
        // Real time, not the host's clock: the provider's answer arrives in real time.
        await pause(lookMs, undefined, { signal });
        const left = await found();
        if (left !== undefined) return left;
        if (clock.now() >= until) {
          throw new Error("other processes keep trying to renew the mailbox's access token, and fail: see their logs");
        }
      }
    },
  };
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
