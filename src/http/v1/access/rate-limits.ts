import { hash } from "node:crypto";
import { Problem } from "#domain/problem.ts";
import type { PlanLimits } from "#domain/workspace/settings.ts";
import { limitsOf, storedSettings } from "#domain/workspace/settings.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Log } from "#runtime/log.ts";
import type { Store } from "#database/contract.ts";
import type { Counter } from "#database/queries/counters.ts";
import { countDown, countUp } from "#database/queries/counters.ts";
import { createRateLimitStore } from "#database/queries/rate-limit-store.ts";
import type { ProcessWatch } from "#database/process-heartbeat.ts";
import type { Caller } from "./auth.ts";

/** Requests of one key, over all processes. */
const inFlightMax = 50;

/** How long a refund is retried while the database is unavailable. */
const giveBackMs = 120_000;

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Values of the rate-limit headers. */
export interface RateState {
  readonly limitMinute: number;
  readonly remainingMinute: number;
  readonly limitDay: number;
  readonly remainingDay: number;
  /** Unix seconds. */
  readonly resetDayS: number;
}

/** Headers of a response without a known key. */
export function unknownCallerRate(now: number): RateState {
  return { limitMinute: 0, remainingMinute: 0, limitDay: 0, remainingDay: 0, resetDayS: dayEnd(now) / 1000 };
}

export function rateHeaders(rate: RateState): Readonly<Record<string, string>> {
  return {
    "x-ratelimit-limit-minute": String(rate.limitMinute),
    "x-ratelimit-remaining-minute": String(rate.remainingMinute),
    "x-ratelimit-limit-day": String(rate.limitDay),
    "x-ratelimit-remaining-day": String(rate.remainingDay),
    "x-ratelimit-reset-day": String(rate.resetDayS),
  };
}

/** A counted request. It is refunded if the response is not a 2xx. */
export interface Slot {
  readonly counters: readonly Counter[];
}

export interface TakenSlot {
  readonly rate: RateState;
  /** Null: refused, and `problem` says why. */
  readonly slot: Slot | null;
  readonly problem: Problem | null;
}

/** Limits that do not depend on the plan, and who they are of, for people. */
export type OwnLimits = Pick<PlanLimits, "perMinute" | "perDay"> & { readonly of: string };

export interface Limits {
  /** Counts a request of this key, or refuses it. `own`: in place of the plan's limits. */
  take(caller: Caller, own?: OwnLimits): Promise<TakenSlot>;
  /** Counts a query of the workspace's month. Throws Problem quota_exhausted. Null: not counted. */
  takeQuery(caller: Caller): Promise<Slot | null>;
  /**
   * Counts a query of one user, where the workspace bounds them. Throws Problem rate_limit_minute or rate_limit_day.
   * Null: not counted.
   */
  takeUser(caller: Caller, userId: string | undefined): Promise<Slot | null>;
  giveBack(slot: Slot): Promise<void>;
  /** Counts a request in flight. The returned function ends it and is called once. Throws Problem too_many_concurrent_requests. */
  enter(keyId: string): () => void;
}

export interface LimitsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly processId: string;
  readonly watch: Pick<ProcessWatch, "silent">;
}

const limitsKnown = new WeakMap<Caller, PlanLimits>();

/** Parses the settings once per request, and only if they can hold limits. */
export function limitsOfCaller(caller: Caller): PlanLimits {
  const known = limitsKnown.get(caller);
  if (known !== undefined) return known;
  const isOwn = /"(?:limitMinute|limitDay|queriesPerMonth)":/.test(caller.settings);
  const limits = limitsOf(caller.plan, isOwn ? storedSettings(caller.settings) : {});
  limitsKnown.set(caller, limits);
  return limits;
}

/** Counters are rows, so they survive a restart and are shared by processes. */
export function createLimits({ store, clock, log, processId, watch }: LimitsOptions): Limits {
  const counting = createRateLimitStore({ store, clock, log, processId, watch, inFlightMax });
  const now = (): number => clock.now();

  async function take(caller: Caller, own?: OwnLimits): Promise<TakenSlot> {
    const at = now();
    const plan = own ?? limitsOfCaller(caller);
    const of = own?.of ?? "This key";
    const limitMinute = Math.min(plan.perMinute, caller.limitMinute ?? Number.POSITIVE_INFINITY);
    const limitDay = Math.min(plan.perDay, caller.limitDay ?? Number.POSITIVE_INFINITY);
    const counters = [
      { name: `rate:day:${caller.keyId}`, windowStart: at - (at % dayMs) },
      { name: `rate:minute:${caller.keyId}`, windowStart: at - (at % minuteMs) },
    ];
    const { taken, crowded, day, minute } = await tryTake(counters, [limitDay, limitMinute], caller.keyId);
    const used = taken ? 0 : 1;
    const rate: RateState = {
      limitMinute,
      remainingMinute: Math.max(0, limitMinute - (minute - used)),
      limitDay,
      remainingDay: Math.max(0, limitDay - (day - used)),
      resetDayS: dayEnd(at) / 1000,
    };
    if (taken) return { rate, slot: { counters }, problem: null };
    if (crowded) return { rate, slot: null, problem: tooManyInFlight() };
    const problem =
      day > limitDay
        ? tooManyOfDay(at, `${of} may make ${limitDay} requests a day`)
        : tooManyOfMinute(at, `${of} may make ${limitMinute} requests a minute`);
    return { rate, slot: null, problem };
  }

  async function tryTake(counters: readonly Counter[], limits: readonly [number, number], keyId?: string) {
    const { taken, crowded, values } = await counting.take(counters, limits, keyId);
    const [day = 0, minute = 0] = values;
    return { taken, crowded, day, minute };
  }

  async function takeUser(caller: Caller, userId: string | undefined): Promise<Slot | null> {
    if (userId === undefined) return null;
    const { userLimitMinute, userLimitDay } = storedSettings(caller.settings);
    if (userLimitMinute === null && userLimitDay === null) return null;
    const at = now();
    // Hashed, because a user id of the company can be longer than the column.
    const user = hash("sha256", `${caller.workspaceId}\n${userId}`, "hex");
    const counters = [
      { name: `rate:user:day:${user}`, windowStart: at - (at % dayMs) },
      { name: `rate:user:minute:${user}`, windowStart: at - (at % minuteMs) },
    ];
    const limitDay = userLimitDay ?? Number.POSITIVE_INFINITY;
    const { taken, day } = await tryTake(counters, [limitDay, userLimitMinute ?? Number.POSITIVE_INFINITY]);
    if (taken) return { counters };
    throw day > limitDay
      ? tooManyOfDay(at, `One user may ask ${limitDay} questions a day`)
      : tooManyOfMinute(at, `One user may ask ${userLimitMinute ?? 0} questions a minute`);
  }

  async function takeQuery(caller: Caller): Promise<Slot | null> {
    const limit = limitsOfCaller(caller).queriesPerMonth;
    if (limit === Number.POSITIVE_INFINITY) return null;
    const at = now();
    const date = new Date(at);
    const counter = {
      name: `queries:${caller.workspaceId}`,
      windowStart: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
    };
    try {
      await store.write(async (tx) => {
        const values = await countUp(tx, [counter]);
        if ((values[0] ?? 0) > limit) throw new Full(values);
      });
    } catch (error) {
      if (!(error instanceof Full)) throw error;
      throw new Problem("quota_exhausted", `This workspace may make ${limit} queries a month; they are used up.`, {
        retryAfterS: (Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) - at) / 1000,
      });
    }
    return { counters: [counter] };
  }

  return {
    take,
    takeUser,
    takeQuery,
    giveBack: (slot) =>
      store.writeWhenBack((tx) => countDown(tx, slot.counters), {
        ms: giveBackMs,
        failed: (error) => log.warn({ err: error }, "limits: refund failed"),
      }),
    enter(keyId) {
      const leave = counting.enter(keyId);
      if (leave === null) throw tooManyInFlight();
      return leave;
    },
  };
}

const tooManyOfDay = (at: number, limit: string): Problem =>
  new Problem("rate_limit_day", `${limit}; the day ends at midnight UTC.`, { retryAfterS: (dayEnd(at) - at) / 1000 });

const tooManyOfMinute = (at: number, limit: string): Problem =>
  new Problem("rate_limit_minute", `${limit}.`, { retryAfterS: (minuteMs - (at % minuteMs)) / 1000 });

function tooManyInFlight(): Problem {
  return new Problem("too_many_concurrent_requests", `At most ${inFlightMax} requests of one key may be in flight.`, {
    retryAfterS: 1,
  });
}

class Full extends Error {
  readonly values: readonly number[];

  constructor(values: readonly number[]) {
    super("a limit is reached");
    this.values = values;
  }
}

function dayEnd(at: number): number {
  return at - (at % dayMs) + dayMs;
}
