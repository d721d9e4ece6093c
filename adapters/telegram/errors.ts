import { GrammyError, HttpError } from "grammy";
import { connectionFailure } from "#channels/http/platform-fetch.ts";
import { ForeignAnswer } from "./client.ts";

/** A failed call, without the token, which is part of every address of the Bot API. */
export type Failure =
  | {
      readonly kind: "answered";
      readonly code: number;
      readonly description: string;
      readonly retryAfterMs?: number;
      readonly movedTo?: number;
    }
  /** No connection was made. */
  | { readonly kind: "unreachable"; readonly description: string }
  /** The response did not come from the Bot API. */
  | {
      readonly kind: "foreign";
      readonly status: number;
      readonly retryAfterMs: number | undefined;
      readonly description: string;
    }
  /** The connection was lost. */
  | { readonly kind: "broken"; readonly description: string };

export function failureOf(error: unknown, token: string): Failure {
  if (error instanceof GrammyError) {
    const { retry_after: seconds, migrate_to_chat_id: movedTo } = error.parameters;
    return {
      kind: "answered",
      code: error.error_code,
      description: clean(error.description, token),
      ...(seconds === undefined ? {} : { retryAfterMs: seconds * 1_000 }),
      ...(movedTo === undefined ? {} : { movedTo }),
    };
  }
  const inner = error instanceof HttpError ? error.error : error;
  if (inner instanceof ForeignAnswer) {
    const { status, retryAfterMs, message } = inner;
    return { kind: "foreign", status, retryAfterMs, description: message };
  }
  const { code, unsent, refusal } = connectionFailure(inner);
  if (refusal !== undefined) return { kind: "unreachable", description: refusal };
  const description = clean(code ?? (inner instanceof Error ? inner.message : "the connection broke"), token);
  return { kind: unsent ? "unreachable" : "broken", description };
}

/** Runs `call`, and removes the token from its errors. */
export async function withoutToken<T>(token: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw withReason(failureOf(error, token));
  }
}

/** For the operator; without a cause, which would put the token into the log. */
export function withReason(failure: Failure): Error {
  const { kind, description } = failure;
  switch (kind) {
    case "answered":
      if (failure.retryAfterMs !== undefined) {
        const seconds = Math.max(1, Math.ceil(failure.retryAfterMs / 1_000));
        return new Error(`Telegram takes no more calls of this bot for ${seconds} s: ask again then`);
      }
      if (failure.code >= 500) return new Error(`Telegram failed (${description}): ask again in a few minutes`);
      return new Error(`Telegram: ${description}`);
    case "unreachable":
      return new Error(
        `Telegram cannot be reached (${description}): check that this machine may connect to api.telegram.org, or to the server in \`base_url\``,
      );
    case "foreign":
    case "broken":
      return new Error(
        `what answers is not Telegram, or the connection broke (${description}): check \`base_url\`, and whether a proxy or a firewall is in between; if Telegram itself has trouble, ask again later`,
      );
  }
}

function clean(text: string, token: string): string {
  return text
    .replaceAll(token, "…")
    .replaceAll(encodeURIComponent(token), "…")
    .replaceAll(/https?:\/\/\S+/g, "the Bot API");
}
