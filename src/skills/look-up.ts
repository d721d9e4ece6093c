import { createHash } from "node:crypto";
import type { LookupRequest, LookupSkill } from "#domain/workspace/skill.ts";
import { fill } from "#domain/workspace/skill-template.ts";
import type { Asker, Turn } from "#answering/contract.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Reader, Store } from "#database/contract.ts";
import { isDuplicate } from "#database/duplicate-key.ts";
import type { GuardedFetch, OutboundResponse } from "#outbound/guarded-fetch.ts";
import { OutboundFailure, RefusedAddress } from "#outbound/guarded-fetch.ts";
import type { ArgumentValues } from "./skill-arguments.ts";

export type Outcome =
  | { readonly kind: "found"; readonly body: unknown }
  | { readonly kind: "not_found" }
  /** `reason`: for the operator, without secrets and without the customer's words. */
  | {
      readonly kind: "failed";
      readonly reason: string;
      /** The call may have taken effect all the same. */
      readonly unsure: boolean;
    };

export interface LookUps {
  /** `withinMs`: remaining time for all look-ups of the answer. */
  call(
    skill: LookupSkill,
    values: ArgumentValues,
    turn: Turn | undefined,
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Outcome>;
}

export interface LookUpDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly guardedFetch: GuardedFetch;
  readonly seal: (plain: string) => string;
  readonly open: (sealed: string) => string;
}

const triesMax = 2;

/** Calls the servers of look-up skills. */
export function createLookUps({ store, clock, guardedFetch, seal, open }: LookUpDependencies): LookUps {
  return {
    async call(skill, values, turn, withinMs, signal) {
      if (withinMs <= 0) return { kind: "failed", reason: "not called: earlier look-ups took too long", unsure: false };
      const end = performance.now() + Math.min(skill.timeoutMs, withinMs);
      const request = prepareRequest(skill, openedRequest(skill, open), values, turn?.user ?? null);
      if (request === undefined)
        return { kind: "failed", reason: "an argument cannot be part of its address", unsure: false };
      if (skill.safe) return ask(skill, request, undefined, end, signal);
      if (turn === undefined)
        return { kind: "failed", reason: "not called outside of a conversation: it is not safe", unsure: false };
      return once(skill, request, turn, values, end, signal);
    },
  };

  /**
   * Stores a call that changes something before it is made, so that it is never made twice: a retry of the answer's work
   * finds the stored call, and its result where that is known.
   */
  async function once(
    skill: LookupSkill,
    request: Prepared,
    turn: Turn,
    values: ArgumentValues,
    end: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { conversationId } = turn;
    const id = callId(skill, turn, values);
    try {
      await store.write((tx) =>
        tx
          .insertInto("skill_calls")
          .values({ id, conversation_id: conversationId, skill: skill.name, result: null, created_at: clock.now() })
          .execute(),
      );
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return storedOutcome(store.read, id, open);
    }
    const outcome = await ask(skill, request, id, end, signal);
    const result = seal(JSON.stringify(outcome));
    await store.write((tx) => tx.updateTable("skill_calls").set({ result }).where("id", "=", id).execute());
    return outcome;
  }

  async function ask(
    skill: LookupSkill,
    request: Prepared,
    idempotencyKey: string | undefined,
    end: number,
    signal: AbortSignal,
  ): Promise<Outcome> {
    for (let attempt = 1; ; attempt += 1) {
      const last = !skill.safe || attempt === triesMax;
      let reason: string;
      let passing: boolean;
      let begun = true;
      try {
        const response = await guardedFetch.fetch(request.url, {
          method: skill.method,
          headers: {
            accept: "application/json",
            ...(request.body === undefined ? {} : { "content-type": "application/json" }),
            ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
            ...request.headers,
          },
          ...(request.body === undefined ? {} : { body: request.body }),
          timeoutMs: Math.max(1, Math.ceil(end - performance.now())),
          bytesMax: skill.bytesMax,
          signal,
        });
        const outcome = outcomeOf(response);
        if (outcome.kind !== "failed") return outcome;
        reason = outcome.reason;
        passing = [429, 502, 503, 504].includes(response.status);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RefusedAddress) {
          return {
            kind: "failed",
            reason: "its address may not be reached: see outbound.allow_private",
            unsure: false,
          };
        }
        if (!(error instanceof OutboundFailure)) throw error;
        reason = failureNames[error.reason];
        passing = error.reason !== "tls";
        begun = error.reason === "timeout" || error.reason === "broken";
      }
      if (last || !passing || performance.now() >= end) return { kind: "failed", reason, unsure: !skill.safe && begun };
    }
  }
}

/** Equal for the same call of the same turn. */
function callId({ name }: LookupSkill, { conversationId, firstSeq }: Turn, values: ArgumentValues): string {
  const sorted = Object.keys(values)
    .toSorted()
    .map((key) => [key, values[key]]);
  const identity = JSON.stringify([conversationId, firstSeq, name, sorted]);
  return createHash("sha256").update(identity).digest("hex").slice(0, 64);
}

async function storedOutcome(db: Reader, id: string, open: (sealed: string) => string): Promise<Outcome> {
  const row = await db.selectFrom("skill_calls").select("result").where("id", "=", id).executeTakeFirst();
  if (row !== undefined && row.result !== null) return JSON.parse(open(row.result)) as Outcome;
  return {
    kind: "failed",
    reason: "an earlier try was cut off, and may have been carried out: not called again",
    unsure: true,
  };
}

/** Replaces the error's message, which names the host and may hold a customer's data. */
const failureNames: Readonly<Record<OutboundFailure["reason"], string>> = {
  timeout: "no answer came in time",
  unknown_host: "its host has no address",
  refused: "its host takes no connections",
  tls: "no secure connection could be made",
  broken: "the connection broke",
};

function outcomeOf({ status, body, complete }: OutboundResponse): Outcome {
  const failed = (reason: string): Outcome => ({ kind: "failed", reason, unsure: false });
  if (status === 404 || status === 410) return { kind: "not_found" };
  if (status < 200 || status > 299) return failed(`it answered ${status}`);
  if (!complete) return failed("its answer is longer than bytes_max");
  if (body.byteLength === 0) return { kind: "found", body: {} };
  try {
    return { kind: "found", body: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as unknown };
  } catch {
    return failed("its answer is no JSON");
  }
}

export const openedRequest = ({ request }: LookupSkill, open: (sealed: string) => string): LookupRequest =>
  JSON.parse(open(request)) as LookupRequest;

interface Prepared {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The request with its arguments; undefined where an argument would change the structure of the address. */
export function prepareRequest(
  skill: LookupSkill,
  { url, headers, body }: LookupRequest,
  values: ArgumentValues,
  user: Asker | null,
): Prepared | undefined {
  const value = (name: string): string | undefined => {
    if (name.startsWith("user.")) {
      const of: Readonly<Record<string, string | null | undefined>> = {
        "user.id": user?.id,
        "user.email": user?.email,
        "user.plan": user?.plan,
      };
      const own = of[name] ?? "";
      return own === "" ? undefined : own;
    }
    return Object.hasOwn(values, name) ? String(values[name]) : undefined;
  };
  const filled = fill(url, (name) => {
    const found = value(name);
    return found === undefined || !found.isWellFormed() ? undefined : encodeURIComponent(found);
  });
  if (filled === undefined || !keepsPath(url, filled)) return undefined;
  const sent = body === null || skill.method === "GET" ? undefined : filledBody(body, value);
  return { url: filled, headers, body: sent === undefined ? undefined : JSON.stringify(sent) };
}

/** Whether the path keeps its structure; ".." would leave its folder, encoded or not. */
function keepsPath(template: string, filled: string): boolean {
  const segments = (/^https?:\/\/[^/?#]*([^?#]*)/i.exec(filled)?.[1] ?? "").split("/");
  if (segments.some((segment) => segment !== "" && /^(?:\.|%2e){1,2}$/i.test(segment))) return false;
  const before = URL.parse(template.replaceAll(/\{[^{}]*\}/g, "x"));
  const after = URL.parse(filled);
  if (before === null || after === null || before.host !== after.host || before.protocol !== after.protocol)
    return false;
  return before.pathname.split("/").length === after.pathname.split("/").length;
}

/** Replaces placeholders in texts by their values; leaves out texts whose placeholders have no value. */
function filledBody(body: unknown, value: (name: string) => string | undefined): unknown {
  if (typeof body === "string") return fill(body, value);
  if (Array.isArray(body)) return body.map((each) => filledBody(each, value)).filter((each) => each !== undefined);
  if (typeof body !== "object" || body === null) return body;
  const entries = Object.entries(body)
    .map(([key, each]) => [key, filledBody(each, value)] as const)
    .filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries);
}
