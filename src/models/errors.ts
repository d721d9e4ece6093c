import { APICallError } from "ai";
import type { ModelFailureKind } from "./language-model.ts";
import { ModelFailure } from "./language-model.ts";
import type { ModelConfig } from "#config/models.ts";

/** Node.js's name of a connection error; nothing else of the error is passed on. */
const systemCode = /^[A-Z][A-Z0-9_]{2,40}$/;
/** A provider's name of an error ("insufficient_quota"). Keys do not match. */
const reasonName = /^[a-z]+(?:_[a-z]+){0,5}$/;
const retryAfterMaxMs = 3_600_000;

/**
 * Describes a failure of the provider or the connection in our own words: the original error can hold the key, headers
 * and the customer's words, so neither its message nor the error itself is kept.
 */
export function failureOf(error: unknown, config: ModelConfig): ModelFailure {
  if (error instanceof ModelFailure) return error;
  if (!APICallError.isInstance(error)) {
    const code = codeOf(error);
    return code === undefined
      ? new ModelFailure("broken", "the model's answer could not be read, or ended in the middle")
      : connectionFailure(code, config);
  }
  const { statusCode } = error;
  if (statusCode === undefined) return connectionFailure(codeOf(error) ?? "", config);
  if (statusCode < 400)
    return new ModelFailure(
      "broken",
      "the model's answer could not be read: is MODEL_BASE_URL the address of its API?",
    );
  const { kind, text } = meaningOf(statusCode, config);
  const reason = reasonOf(error.responseBody, config);
  const retry = kind === "limited" || kind === "server" ? retryAfterOf(error.responseHeaders ?? {}) : undefined;
  return new ModelFailure(kind, `the provider answers ${statusCode}${reason}: ${text}`, retry);
}

function meaningOf(
  status: number,
  { provider }: ModelConfig,
): { readonly kind: ModelFailureKind; readonly text: string } {
  switch (status) {
    case 401:
    case 403:
      return {
        kind: "key",
        text: "it does not accept the key, or the key may not use this model; check MODEL_API_KEY",
      };
    case 404:
      return {
        kind: "model",
        text:
          provider === "openai-compatible"
            ? "it does not know the model or the path; check MODEL_NAME, and that MODEL_BASE_URL ends as its manual says, often in /v1"
            : "it does not know the model; check MODEL_NAME",
      };
    case 408:
      return { kind: "timeout", text: "it took too long" };
    case 402:
    case 429:
      return { kind: "limited", text: "the account's limit is reached; wait, or raise it with the provider" };
    default:
      return status >= 500
        ? { kind: "server", text: "it reports an internal error; wait, or look at its status page" }
        : { kind: "rejected", text: "it refuses the request; check that MODEL_NAME is a text model" };
  }
}

function connectionFailure(code: string, { baseUrl }: ModelConfig): ModelFailure {
  const where = baseUrl === undefined ? "the provider" : new URL(baseUrl).host;
  const named = code === "" ? "" : ` (${code})`;
  const broken = code === "ECONNRESET" || code === "UND_ERR_SOCKET" || code === "ERR_INVALID_STATE";
  return broken
    ? new ModelFailure("broken", `the connection to ${where} was cut${named}`)
    : new ModelFailure(
        "unreachable",
        `${where} cannot be reached${named}: check MODEL_BASE_URL, that the server runs, and the way out of this machine`,
      );
}

/** The system error code of an error or of its cause. */
function codeOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== "object" || error === null || depth > 5) return undefined;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return typeof code === "string" && systemCode.test(code) ? code : codeOf(cause, depth + 1);
}

function reasonOf(body: string | undefined, { apiKey }: ModelConfig): string {
  try {
    const { error } = JSON.parse(body ?? "") as {
      readonly error?: { readonly code?: unknown; readonly type?: unknown };
    };
    const name = [error?.code, error?.type].find(
      (each) => typeof each === "string" && reasonName.test(each) && each.length <= 60,
    );
    return typeof name === "string" && (apiKey === undefined || !name.includes(apiKey)) ? ` (${name})` : "";
  } catch {
    // The body is not JSON, so it has no error name.
    return "";
  }
}

function retryAfterOf(headers: Readonly<Record<string, string>>): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  const given = headers["retry-after"];
  const seconds = Number(given ?? Number.NaN);
  const until =
    given === undefined || Number.isFinite(seconds)
      ? Number.NaN
      : Date.parse(given) - Date.parse(headers["date"] ?? "");
  const ms = [exact, seconds * 1_000, until].find((each) => Number.isFinite(each) && each >= 0);
  return ms === undefined ? undefined : Math.min(ms, retryAfterMaxMs);
}
