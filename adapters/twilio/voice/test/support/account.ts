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

/** The program with one account at the fake, and what callers and agents do. */
export interface VoiceBench {
  readonly bench: EngineBench;
  readonly twilio: FakeTwilio;
  readonly calls: FakeCalls;
  readonly webhookUrl: string;
  /** The same as it is reached from here. */
  readonly localUrl: string;
  /** An agent's reply in the conversation of the call, as soon as it is on its way or given up; the id of the message. */
  reply(call: FakeCall, content: string): Promise<string>;
  /** What was sent to this number as text messages. */
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
  const calls = createFakeCalls({
    twilio,
    own,
    webhookUrl,
    now: () => bench.clock.now(),
    // Whatever the program is at: a call does not wait for it.
    async pass(ms) {
      bench.clock.advance(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
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
