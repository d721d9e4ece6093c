import { loadAdapter } from "#channels/load-adapter.ts";
import type { TestDatabase } from "#test/support/database/databases.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import type { BenchOptions, EngineBench } from "#test/support/engine-bench.ts";
import { anna, openBench } from "#test/support/engine-bench.ts";
import type { MessageFields } from "./events.ts";
import { envelopeOf, messageEvent } from "./events.ts";
import type { FakeSlack } from "./fake-slack.ts";
import { startFakeSlack } from "./fake-slack.ts";

type Speaking = Omit<MessageFields, "user" | "ts"> & { readonly user?: string; readonly ts?: string };

/** The program with one Slack account, and users in a fake workspace. */
export interface SlackAccount {
  readonly slack: FakeSlack;
  readonly bench: EngineBench;
  /** The address that Slack delivers to. */
  readonly url: string;
  /** POSTs a body with Slack's signature. */
  post(body: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Delivers an event over HTTP. */
  deliver(event: object, more?: Readonly<Record<string, unknown>>): Promise<Response>;
  /** A message of Ada's, or of another user, as an event. */
  said(given: Speaking): Readonly<Record<string, unknown>>;
  say(given: Speaking): Promise<Response>;
  /** Customers' stored messages, oldest first. */
  stored(): Promise<readonly string[]>;
  texts(channel: string): readonly string[];
  conversations(): Promise<readonly { readonly id: string; readonly context_key: string }[]>;
  /** Posts Anna's reply in the only conversation, or in the given thread's. */
  reply(content: string, thread?: string): Promise<void>;
  close(): Promise<void>;
}

export async function openSlackAccount(
  settings: (slack: FakeSlack) => Readonly<Record<string, unknown>> = () => ({}),
  open: () => Promise<TestDatabase> = newSqlite,
  workspaceSettings: BenchOptions["settings"] = {},
): Promise<SlackAccount> {
  const slack = await startFakeSlack();
  slack.users.set("U0ADA", { id: "U0ADA", name: "Ada L.", teamId: slack.teamId, email: "ada@shop.example" });
  slack.users.set("U0BOB", { id: "U0BOB", name: "Bob", teamId: "T0OTHER", email: "bob@else.example" });
  for (const [id, kind] of [
    ["D0ADA", "im"],
    ["D0BOB", "im"],
    ["C0HELP", "channel"],
    ["C0MORE", "channel"],
  ] as const) {
    slack.channels.set(id, { id, kind, name: id.toLowerCase(), archived: false, member: true });
  }
  const bench = await openBench(open, {
    settings: workspaceSettings,
    account: {
      channel: "slack",
      load: loadAdapter,
      config: without({
        bot_token: slack.botToken,
        signing_secret: slack.signingSecret,
        base_url: slack.url,
        ...settings(slack),
      }),
    },
  });
  slack.follow(() => bench.clock.now());
  const url = `${await bench.app.listen()}/channels/slack/${bench.accountId}`;

  const said = ({ user = "U0ADA", ts = slack.nextTs(), ...rest }: Speaking) =>
    messageEvent(slack, { ...rest, user, ts });
  const account: SlackAccount = {
    slack,
    bench,
    url,
    post: (body, headers = {}) =>
      fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...slack.sign(body, bench.clock.now()), ...headers },
        body,
      }),
    deliver: (event, more) => account.post(JSON.stringify(envelopeOf(slack, { ...event }, more))),
    said,
    say: (given) => account.deliver(said(given)),
    async stored() {
      const rows = bench.store.read.selectFrom("messages").select("content").where("role", "=", "user").orderBy("id");
      return (await rows.execute()).map(({ content }) => content);
    },
    texts: (channel) => slack.shown(channel).map(({ text }) => text),
    conversations: () =>
      bench.store.read.selectFrom("conversations").select(["id", "context_key"]).orderBy("id").execute(),
    async reply(content, thread) {
      const all = await account.conversations();
      const found = all.find(({ context_key: key }) => thread === undefined || key === thread);
      if (found === undefined) throw new Error(`there is no conversation ${thread ?? "at all"}`);
      await bench.engine.reply({
        workspaceId: bench.workspaceId,
        conversationId: found.id,
        content,
        authorEmail: "anna@test.example",
        actor: anna,
      });
      await bench.settle();
    },
    async close() {
      await slack.close();
      await bench.close();
    },
  };
  return account;
}

const without = (config: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
