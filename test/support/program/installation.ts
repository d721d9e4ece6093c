import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { openServices } from "#app/services.ts";
import { systemClock } from "#runtime/clock.ts";
import { loadConfig } from "#config/environment.ts";
import { createAgent } from "#admin/team/agents.ts";
import { createKey } from "#admin/api-keys.ts";
import { createWorkspace } from "#admin/workspaces/workspaces.ts";

/** A folder and a database to start the program on, with a workspace that has some documents. */
export interface Installation {
  readonly dataDir: string;
  readonly databaseUrl: string;
  readonly workspaceId: string;
  readonly key: string;
  remove(): Promise<void>;
}

const handbook = `# Handbook of the Harbour Lamp Shop

## Returns
You can return a lamp within 30 days of delivery. Print the return label from your account page and hand the parcel to
any post office. The refund reaches your card within five working days.

## Shipping
Shipping inside the country takes two working days and costs 4 euros. Orders above 60 euros are shipped free of charge.
Express shipping arrives on the next working day and costs 12 euros.

## Warranty
Every lamp has a warranty of three years. Send the serial number and a photo of the damage to start a warranty claim.

## Bulbs
All table lamps use E14 bulbs with at most 40 watts. Floor lamps use E27 bulbs with at most 60 watts.

## Dimmer
To pair the dimmer, hold its button for six seconds until the light blinks twice. A paired dimmer reaches ten metres.

## Invoices
Invoices are sent by e-mail on the day of shipping. You can download every invoice from the orders page.

## Opening hours
The shop in the old harbour is open from Tuesday to Saturday, 10:00 to 18:00.
`;

/** {@link handbook} answers each of them. */
export const questions = [
  "How many days do I have to return a lamp?",
  "How much does shipping cost?",
  "How much does express shipping cost?",
  "How long is the warranty of a lamp?",
  "Which bulbs do table lamps use?",
  "Which bulbs do floor lamps use?",
  "How do I pair the dimmer?",
  "Where can I download an invoice?",
  "When is the shop in the old harbour open?",
  "How do I start a warranty claim?",
] as const;

/** Limits that one visitor does not reach: all customers of the tests share an address. */
const openLimits = {
  connections_per_minute: 1_000_000,
  sockets_per_address: 1_000_000,
  messages_per_minute: 1_000_000,
  messages_per_minute_address: 1_000_000,
};

/** Makes an installation without starting it. `databaseUrl`: an empty database; absent: SQLite in the folder. */
export async function install(
  databaseUrl?: string,
  files: readonly { readonly fileName: string; readonly bytes: Buffer }[] = [
    { fileName: "handbook.md", bytes: Buffer.from(handbook) },
  ],
): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-installation-"));
  const config = loadConfig({
    PARLEY_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });
  const clock = systemClock;
  const core = await openServices(config, { clock, log: pino({ level: "warn" }) });
  try {
    const { store, secrets, documents } = core;
    await store.migrate();
    const workspace = await createWorkspace(
      { store, clock, secrets },
      // The bot keeps the conversation, whatever the questions.
      { name: "Support", plan: "enterprise", settings: { lowAnswersToEscalate: 20 } },
    );
    for (const file of files) {
      const document = await documents.add({ workspaceId: workspace.id, ...file });
      await documents.process(document.id);
    }
    const { key } = await createKey(store, clock, { workspaceId: workspace.id, name: "test" });
    // An administrator's account completes the first start.
    await createAgent(store, clock, {
      workspaceId: workspace.id,
      email: "operator@localhost",
      name: "Operator",
      role: "admin",
    });
    await store.write((tx) =>
      tx
        .updateTable("accounts")
        .set({ config: JSON.stringify(openLimits) })
        .where("channel", "=", "widget")
        .execute(),
    );
    return {
      dataDir,
      databaseUrl: config.databaseUrl,
      workspaceId: workspace.id,
      key,
      remove: () => rm(dataDir, { recursive: true, force: true }),
    };
  } finally {
    await core.close();
  }
}
