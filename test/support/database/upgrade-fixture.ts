import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { createConnection } from "mysql2/promise";
import type { FakeIntercom } from "#adapters/intercom/test/support/fake-intercom.ts";
import { startFakeIntercom } from "#adapters/intercom/test/support/fake-intercom.ts";
import type { FakeMessage } from "#adapters/slack/test/support/fake-messages.ts";
import type { FakeChannel, FakeUser } from "#adapters/slack/test/support/fake-web-api.ts";
import type { FakeTwilio } from "#adapters/twilio/shared/test/fake-twilio.ts";
import { startFakeTwilio } from "#adapters/twilio/shared/test/fake-twilio.ts";
import { readConfigFile } from "#config/file.ts";
import { openGuardedFetch } from "#outbound/guarded-fetch.ts";
import type { TestApp } from "../http/app.ts";
import { startApp } from "../http/app.ts";
import type { TestDatabase } from "./databases.ts";
import { emptyDatabase, newSqlite } from "./databases.ts";
import type { DeskWorld } from "../desk/world.ts";
import { openDeskWorld } from "../desk/world.ts";
import type { EmbeddingServer } from "../servers/embedding-server.ts";
import { startEmbeddingServer } from "../servers/embedding-server.ts";
import type { FakeSite } from "../servers/fake-site.ts";
import { htmlPage, startSite } from "../servers/fake-site.ts";
import type { HandMovedClock } from "../hand-moved-clock.ts";
import { createHandMovedClock } from "../hand-moved-clock.ts";
import type { TestTypesense } from "../typesense/typesense-server.ts";
import { startTypesense } from "../typesense/typesense-server.ts";
import type { Receiver } from "../servers/webhook-receiver.ts";
import { openReceiver } from "../servers/webhook-receiver.ts";

const folder = new URL("../../fixtures/upgrade/", import.meta.url);
const unpack = async (name: string): Promise<Buffer> =>
  promisify(gunzip)(await readFile(new URL(`${name}.gz`, folder)));

/** The rest of the fixture besides the database; see test/fixtures/upgrade/README.md. */
interface FixtureState {
  readonly stoppedAt: number;
  readonly workspaceId: string;
  readonly outletId: string;
  readonly key: string;
  /** Ids of conversations by the name of their story; `chats` has the Telegram chats of some. */
  readonly conversations: Readonly<Record<string, string>>;
  readonly chats: Readonly<Record<string, number>>;
  /** Time stamps of the desk's cards, by story. */
  readonly cards: Readonly<Record<string, string>>;
  /** Base64 by path in the data folder. */
  readonly dataFiles: Readonly<Record<string, string>>;
  readonly slack: {
    readonly users: readonly FakeUser[];
    readonly channels: readonly FakeChannel[];
    readonly messages: readonly FakeMessage[];
    readonly reactions: DeskWorld["slack"]["reactions"];
    readonly file: { readonly id: string; readonly name: string; readonly mimetype: string; readonly bytes: string };
  };
  readonly telegram: {
    readonly shown: readonly { readonly chatId: number; readonly messageId: number; readonly text: string }[];
    readonly files: Readonly<Record<string, string>>;
  };
}

/** An installation of an older version, with the state of its platforms. */
export interface OldInstallation {
  readonly left: FixtureState;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly clock: HandMovedClock;
  readonly world: DeskWorld;
  readonly twilio: FakeTwilio;
  readonly intercom: FakeIntercom;
  readonly receiver: Receiver;
  /** www.shop.example, crawled a month ago, and blog.shop.example. */
  readonly site: FakeSite;
  readonly blog: FakeSite;
  readonly typesense: TestTypesense;
  readonly embedding: EmbeddingServer;
  /** Starts this version on it; `outside: false` leaves out the search engine and the embedding server. */
  start(outside?: boolean): Promise<TestApp>;
  close(): Promise<void>;
}

export async function openOldInstallation(open: () => Promise<TestDatabase>): Promise<OldInstallation> {
  const database = await emptyDatabase(open === newSqlite ? "sqlite" : "mysql");
  const isSqlite = database.url.startsWith("sqlite:");
  const name = isSqlite ? "sqlite" : "mariadb";
  const left = JSON.parse((await unpack(`${name}.json`)).toString("utf8")) as FixtureState;
  if (isSqlite) await writeFile(database.url.slice("sqlite:".length), await unpack("sqlite.db"));
  else await load(database.url, (await unpack("mariadb.sql")).toString("utf8"));
  const dataDir = await mkdtemp(join(tmpdir(), "parley-upgrade-"));
  for (const [path, bytes] of Object.entries(left.dataFiles)) {
    await mkdir(dirname(join(dataDir, path)), { recursive: true });
    await writeFile(join(dataDir, path), Buffer.from(bytes, "base64"));
  }
  // The upgrade took a minute.
  const clock = createHandMovedClock(left.stoppedAt + 60_000);
  const [world, twilio, intercom, receiver, site, blog, typesense, embedding] = await Promise.all([
    openDeskWorld(),
    startFakeTwilio(),
    startFakeIntercom(),
    openReceiver(() => clock.now()),
    startSite(() => clock.now()),
    startSite(() => clock.now()),
    startTypesense(),
    startEmbeddingServer([/warranty/i, /shipping/i]),
  ]);
  await restore(left, world, intercom, clock);
  site.pages.set("/", htmlPage("Lamp care", "Clean a lamp shade with a dry cloth.", ["/bulbs"]));
  site.pages.set("/bulbs", htmlPage("Bulbs", "Floor lamps use E27 bulbs with at most 60 watts."));
  blog.pages.set("/", htmlPage("Blog", "The shop was founded in 1931."));
  const file = readConfigFile("parley.yaml", await readFile(new URL("parley.yaml", folder), "utf8"), {
    TELEGRAM_TOKEN: world.telegram.token,
    TELEGRAM_URL: world.telegram.url,
    SLACK_BOT_TOKEN: world.slack.botToken,
    SLACK_SIGNING_SECRET: world.slack.signingSecret,
    SLACK_URL: world.slack.url,
    TWILIO_ACCOUNT_SID: twilio.accountSid,
    TWILIO_AUTH_TOKEN: twilio.authToken,
    TWILIO_URL: twilio.url,
    INTERCOM_TOKEN: intercom.token,
    INTERCOM_CLIENT_SECRET: intercom.clientSecret,
    INTERCOM_APP_ID: intercom.appId,
    INTERCOM_URL: intercom.url,
  });
  const hosts: Readonly<Record<string, string>> = {
    "https://hooks.shop.example": new URL(receiver.url).origin,
    "https://www.shop.example": site.origin,
    "https://blog.shop.example": blog.origin,
  };

  async function start(outside = true): Promise<TestApp> {
    const guarded = openGuardedFetch({ allowPrivate: ["127.0.0.1"] });
    const app = await startApp(open, {
      databaseUrl: database.url,
      dataDir,
      clock,
      file,
      outbound: {
        fetch(url, request) {
          const { origin } = new URL(url);
          return guarded.fetch(url.replace(origin, hosts[origin] ?? origin), request);
        },
        close: () => guarded.close(),
      },
      ...(outside
        ? {
            typesense: typesense.options,
            embedding: {
              provider: "openai-compatible",
              baseUrl: embedding.url,
              name: "test-embedding",
              apiKey: embedding.apiKey,
            },
          }
        : {}),
    });
    const { store, url } = app;
    const accounts = await store.read
      .selectFrom("accounts")
      .select(["id", "name"])
      .where("workspace_id", "=", left.workspaceId)
      .execute();
    const idOf = (account: string): string => accounts.find((each) => each.name === account)?.id ?? "";
    const now = (): number => clock.now();
    world.reach({ url, now, accounts: { telegram: idOf("telegram"), slack: idOf("slack") } });
    const webhook = (account: string): string => `${url}/channels/${account}/${idOf(account)}`;
    twilio.connect({ publicUrl: "http://parley.test", webhookUrl: webhook("whatsapp"), now });
    intercom.connect({ webhookUrl: webhook("intercom"), now });
    return app;
  }

  return {
    left,
    databaseUrl: database.url,
    dataDir,
    clock,
    world,
    twilio,
    intercom,
    receiver,
    site,
    blog,
    typesense,
    embedding,
    start,
    async close() {
      const servers = [world, twilio, intercom, receiver, site, blog, typesense, embedding];
      await Promise.all(servers.map((server) => server.close()));
      await database.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function load(url: string, dump: string): Promise<void> {
  const connection = await createConnection({ uri: url, multipleStatements: true });
  try {
    await connection.query(dump);
  } finally {
    await connection.end();
  }
}

/** Restores what the installation and its customers stored on the platforms. */
async function restore(
  { slack, telegram }: FixtureState,
  world: DeskWorld,
  intercom: FakeIntercom,
  clock: HandMovedClock,
): Promise<void> {
  world.slack.follow(() => clock.now());
  for (const user of slack.users) world.slack.users.set(user.id, user);
  for (const channel of slack.channels) world.slack.channels.set(channel.id, channel);
  world.slack.messages.push(...slack.messages.map((each) => ({ ...each, threadTs: each.threadTs, user: each.user })));
  world.slack.reactions.push(...slack.reactions);
  const { id, name, mimetype, bytes } = slack.file;
  const file = { id, name, title: name, mimetype, bytes: Buffer.from(bytes, "base64"), secret: "s" };
  world.slack.files.set(id, file);
  for (const { chatId, messageId, text } of telegram.shown) {
    const response = await fetch(`${world.telegram.url}/bot${world.telegram.token}/sendMessage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chat_id: chatId, text }),
    });
    const { result } = (await response.json()) as { readonly result: { readonly message_id: number } };
    if (result.message_id !== messageId) throw new Error("a message of the fixture has got another id");
  }
  for (const [fileId, content] of Object.entries(telegram.files)) {
    world.telegram.keep(Buffer.from(content, "base64"), ".png", fileId);
  }
  intercom.connect({ webhookUrl: "", now: () => clock.now() });
  // The fakes number their ids, so the same calls in the same order give the same ids.
  for (const contact of ["stand", "note", "handover"]) {
    intercom.write({ contact, text: `How long is the warranty? ${contact}` });
  }
}
