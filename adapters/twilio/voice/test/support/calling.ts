import type { FakePlatform, Misbehaviour } from "#test/support/channels/conformance-target.ts";
import type { FakeTwilio, Fault } from "../../../shared/test/fake-twilio.ts";
import { startFakeTwilio } from "../../../shared/test/fake-twilio.ts";
import { misbehaves } from "../../../shared/test/misbehave.ts";
import { en } from "#language/locales/en.ts";
import type { FakeCall, FakeCalls } from "./fake-calls.ts";
import { createFakeCalls } from "./fake-calls.ts";

export const texts = en.voice;

const waitsMax = 500;
const refused: Fault = { kind: "error", status: 400, code: 21_218, message: "Invalid ApplicationSid" };

/** A fake Twilio with a number, and customers who call it. */
export interface Calling {
  readonly twilio: FakeTwilio;
  readonly calls: FakeCalls;
  numberOf(customer: string): string;
  /** Texts that the customer heard or received as text messages, without the program's prompts. */
  shown(calls: readonly FakeCall[], customer: string): readonly string[];
  /** Waits until the call has spoken anything but a prompt. */
  untilAnswered(call: FakeCall): Promise<void>;
  readonly platform: Pick<
    FakePlatform,
    "config" | "secrets" | "retryAfterMs" | "connect" | "misbehave" | "away" | "back" | "close"
  >;
}

/** Counts a text that was cut off and repeated once. */
const heardOnce = ({ heard, cutOff }: FakeCall): readonly string[] =>
  heard.filter((text, at) => !(cutOff.has(at) && heard[at + 1] === text));

/** Short prompts, for long runs. */
const brief = { greeting: "Hello.", moment: "Hm.", still: "Hm.", slow: "Go on." };

export interface CallingOptions {
  /** The number that is called. */
  readonly own: string;
  /** The prefix of the customers' numbers. */
  readonly callers: string;
  readonly isBrief?: boolean;
}

export async function openCalling({ own, callers, isBrief = false }: CallingOptions): Promise<Calling> {
  const twilio = await startFakeTwilio();
  const numbers = new Map<string, string>();
  let calls: FakeCalls | undefined;
  const numberOf = (customer: string): string => {
    const known = numbers.get(customer) ?? `${callers}${String(numbers.size).padStart(4, "0")}`;
    numbers.set(customer, known);
    return known;
  };
  const prompts = new Set<string>([...Object.values(texts), ...Object.values(brief)]);
  const isPrompt = (text: string): boolean =>
    prompts.has(text) || text.startsWith(texts.greeting.split("{", 1)[0] ?? "");

  return {
    twilio,
    get calls() {
      if (calls === undefined) throw new Error("nobody knows where to call");
      return calls;
    },
    numberOf,
    shown(all, customer) {
      const wrong = all.flatMap(({ errors }) => errors);
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
      const heard = all.flatMap(heardOnce).filter((text) => !isPrompt(text));
      const texted = twilio.taken.filter(({ to }) => to === numberOf(customer)).map(({ body }) => body);
      return [...heard, ...texted].map((text) => text.replace(/^Anna[^\n]*?(?: says: |:\n)/, ""));
    },
    async untilAnswered(call) {
      for (let waits = 0; call.heard.every(isPrompt) && call.status !== "completed"; waits += 1) {
        if (waits > waitsMax) throw new Error("the call says nothing");
        if (calls === undefined) throw new Error("nobody knows where to call");
        await calls.wait(call);
      }
    },
    platform: {
      config: {
        ...twilio.settings,
        from: own,
        ...(isBrief ? { hold_seconds: 10, texts: brief } : {}),
      },
      secrets: () => [twilio.authToken],
      retryAfterMs: 17_000,
      async connect({ webhookUrl, now, tick }) {
        twilio.connect({ publicUrl: "http://parley.test", webhookUrl, now });
        // Steps run in sequence, since all calls share one clock.
        let last: Promise<void> = Promise.resolve();
        calls = createFakeCalls({
          twilio,
          own,
          webhookUrl: `http://parley.test${new URL(webhookUrl).pathname}`,
          now,
          lookMs: 50,
          pass: (ms) => (last = last.then(() => tick(ms))),
        });
      },
      misbehave: (how: Misbehaviour) => misbehaves(twilio, how, refused),
      away: () => twilio.goAway(),
      back: () => twilio.comeBack(),
      close: () => twilio.close(),
    },
  };
}
