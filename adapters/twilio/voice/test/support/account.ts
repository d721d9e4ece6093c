import { loadAdapter } from "#channels/load-adapter.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { FakeTwilio } from "../../../shared/test/fake-twilio.ts";
import { startFakeTwilio } from "../../../shared/test/fake-twilio.ts";
import type { FakeCall, FakeCalls } from "./fake-calls.ts";
import { createFakeCalls } from "./fake-calls.ts";

export const own = "+15550001111";
export const caller = "+15552000001";

/** The program with one account at the fake, and actions of callers and agents. */
export interface VoiceBench {
  readonly bench: EngineBench;
  readonly twilio: FakeTwilio;
  readonly calls: FakeCalls;
  readonly webhookUrl: string;
  /** The webhook, as reachable from the test. */
  readonly localUrl: string;
  /** Sends an agent's reply in the call's conversation. Resolves with the message's id once it is sent or given up. */
  reply(call: FakeCall, content: string): Promise<string>;
  /** The text messages sent to this number. */
  texted(to: string): readonly string[];
  conversation(call: FakeCall): ReturnType<EngineBench["row"]>;
  talk(call: FakeCall): Promise<readonly string[]>;
  notes(call: FakeCall): Promise<string>;
  states(messageId: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openVoice(
  config: object = {},
  options: BenchOptions = {},
  open: () => Promise<TestDatabase> = newSqlite,
): Promise<VoiceBench> {
  const twilio = await startFakeTwilio();
  const bench = await openBench(open, {
    ...options,
    account: {
      channel: "voice",
      load: loadAdapter,
      config: {
        ...twilio.settings,
        from: own,
        ...config,
      },
    },
  });
  const localUrl = `${await bench.app.listen()}/channels/voice/${bench.accountId}`;
  const webhookUrl = `http://parley.test/channels/voice/${bench.accountId}`;
  twilio.connect({ publicUrl: "http://parley.test", webhookUrl: localUrl, now: () => bench.clock.now() });
  let step: Promise<void> | undefined;
  const calls = createFakeCalls({
    twilio,
    own,
    webhookUrl,
    now: () => bench.clock.now(),
    // A call does not wait for the program. Requests that wait at the same time share a step: time passes once for all.
    pass: (ms) =>
      (step ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        bench.clock.advance(ms);
        step = undefined;
      })),
  });
  const { read } = bench.store;
  const conversation = (call: FakeCall) =>
    read.selectFrom("conversations").selectAll().where("context_key", "=", call.sid).executeTakeFirstOrThrow();

  return {
    bench,
    twilio,
    calls,
    webhookUrl,
    localUrl,
    async reply(call, content) {
      const { id } = await conversation(call);
      const { workspaceId } = bench;
      const sent = await bench.engine.reply({
        workspaceId,
        conversationId: id,
        content,
        authorEmail: "anna@test.example",
        actor: anna,
      });
      await bench.settle();
      return sent.messageId;
    },
    texted: (to) => twilio.taken.filter((each) => each.to === to).map(({ body }) => body),
    conversation,
    talk: async (call) => bench.talk((await conversation(call)).id),
    notes: async (call) => (await bench.notes((await conversation(call)).id)).join("\n"),
    states: async (messageId) =>
      (await read.selectFrom("deliveries").select("state").where("message_id", "=", messageId).execute()).map(
        ({ state }) => state,
      ),
    async close() {
      await twilio.close();
      await bench.close();
    },
  };
}
