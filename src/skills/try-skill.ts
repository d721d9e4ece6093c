import type { LookupSkill } from "#domain/workspace/skill.ts";
import type { Asker } from "#answering/contract.ts";
import type { LookUps } from "./look-up.ts";
import { openedRequest, prepareRequest } from "./look-up.ts";
import { lookupOf } from "./result.ts";
import type { ArgumentValues } from "./skill-arguments.ts";

const callMs = 20_000;
const bodyShownMax = 10_000;
const hidden = "•••";
/** Shorter values are no secrets, and would hide parts of other words. */
const secretCharsMin = 8;

/** The request and the response, without the values of headers. */
export interface SkillTrial {
  readonly outcome: "found" | "not_found" | "failed";
  /** Why it failed. */
  readonly reason: string | null;
  /** The reply to the customer. */
  readonly answer: string | null;
  /** Null: nothing was sent. */
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | null;
  } | null;
  /** The server's JSON. */
  readonly body: string | null;
}

/** Calls the server of a safe skill with an administrator's values. */
export async function trySkill(
  { lookUps, open }: { readonly lookUps: LookUps; readonly open: (sealed: string) => string },
  skill: LookupSkill,
  values: ArgumentValues,
  user: Asker | null,
  signal: AbortSignal,
): Promise<SkillTrial> {
  const template = openedRequest(skill, open);
  const sent = prepareRequest(skill, template, values, user);
  const mask = maskOf(Object.values(template.headers));
  const request =
    sent === undefined
      ? null
      : {
          method: skill.method,
          url: mask(sent.url),
          headers: Object.fromEntries(Object.keys(sent.headers).map((name) => [name, hidden])),
          body: sent.body === undefined ? null : mask(sent.body),
        };
  const outcome = await lookUps.call(skill, values, { conversationId: "", firstSeq: 0, user }, callMs, signal);
  const none = { request, reason: null, answer: null, body: null };
  if (outcome.kind === "failed") return { ...none, outcome: "failed", reason: outcome.reason };
  if (outcome.kind === "not_found") return { ...none, outcome: "not_found", answer: skill.notFound };
  const found = lookupOf(skill, outcome.body, values);
  return {
    ...none,
    outcome: "found",
    reason: found === undefined ? "its answer lacks a field that the skill tells" : null,
    answer: found === undefined ? null : mask(found.message),
    body: mask(JSON.stringify(outcome.body)).slice(0, bodyShownMax),
  };
}

/** Hides secrets in what a server answers: some repeat the headers of the request. */
function maskOf(headerValues: readonly string[]): (text: string) => string {
  const secrets = headerValues
    .flatMap((value) => [value, ...value.split(" ")])
    .filter((value) => value.length >= secretCharsMin)
    .flatMap((value) => [value, JSON.stringify(value).slice(1, -1)])
    .toSorted((left, right) => right.length - left.length);
  return (text) => secrets.reduce((masked, secret) => masked.replaceAll(secret, hidden), text);
}
