import { readConfigFile } from "#config/file.ts";
import { createKey } from "#admin/api-keys.ts";
import type { TestApp } from "../http/app.ts";
import { startApp } from "../http/app.ts";
import type { TestDatabase } from "../database/databases.ts";
import type { DeskWorld } from "../desk/world.ts";
import { openDeskWorld } from "../desk/world.ts";
import type { Line, LineUp } from "./line-up.ts";
import { builtin, fileWith, handbook, lineUp, openLimits, startLines } from "./line-up.ts";

/** One program with an account on every channel and a desk in Slack, on a clock that is moved by hand. */
export interface AllChannels {
  readonly app: TestApp;
  readonly desk: DeskWorld;
  readonly lines: readonly Line[];
  readonly workspaceId: string;
  accountId(line: Line): string;
  /** A key of the workspace's API. */
  readonly key: string;
  /** Waits for what happens by itself, and lets time pass meanwhile; false when it does not happen. */
  comes(reached: () => Promise<boolean> | boolean, patienceMs?: number): Promise<boolean>;
  /** Lets time pass until this has ended: what it waits for may need time, such as another try to connect. */
  meanwhile<T>(work: Promise<T>): Promise<T>;
  /** Waits until nothing is left to do for customers and agents. */
  settle(): Promise<void>;
  /** Lets time pass in steps, between which the network has its turn. */
  pass(ms: number, stepMs: number): Promise<void>;
  close(): Promise<void>;
}

const patience = 60_000;
const busyStepMs = 100;
const stepMs = 500;
/** Leases of connections are renewed well before they have no more than this left. */
const leaseLeftMs = 7_000;
/** How often a lease that is not renewed is waited for, 5 ms each. */
const leasePatience = 400;
const workKinds = ["think", "send", "amend", "desk", "desk-event", "desk-notice"];

export async function openAllChannels(
  open: () => Promise<TestDatabase>,
  channels: readonly LineUp[] = lineUp,
): Promise<AllChannels> {
  const [desk, lines] = await Promise.all([openDeskWorld(), startLines(channels)]);
  const app = await startApp(open, { file: readConfigFile("test.yaml", fileWith(desk, lines, "Shop"), {}) });
  const { store, clock } = app;
  const accounts = await store.read
    .selectFrom("accounts")
    .innerJoin("workspaces", "workspaces.id", "accounts.workspace_id")
    .select(["accounts.id", "accounts.name", "accounts.workspace_id"])
    .where("workspaces.name", "=", "Shop")
    .execute();
  const idOf = (name: string): string => {
    const found = accounts.find((each) => each.name === name)?.id;
    if (found === undefined) throw new Error(`there is no account ${name}`);
    return found;
  };
  const workspaceId = accounts[0]?.workspace_id ?? "";
  await store.write((tx) =>
    tx
      .updateTable("accounts")
      .set({ config: JSON.stringify(openLimits) })
      .where("channel", "in", ["widget", "hosted"])
      .execute(),
  );
  const { key } = await createKey(store, clock, { workspaceId, name: "All channels" });
  const { documents } = app.app.services;
  const { id } = await documents.add({
    workspaceId,
    fileName: "handbook.md",
    bytes: Buffer.from(handbook),
    audience: [],
  });
  await documents.process(id);

  async function comes(reached: () => Promise<boolean> | boolean, patienceMs = patience): Promise<boolean> {
    for (const end = performance.now() + patienceMs; !(await reached());) {
      if (performance.now() > end) return false;
      await goOn();
    }
    return true;
  }
  let step: Promise<void> | undefined;
  /** One step for all who wait: were each to take its own, time would run ahead of the program. */
  function goOn(): Promise<void> {
    step ??= takeStep().finally(() => (step = undefined));
    return step;
  }
  async function takeStep(): Promise<void> {
    await keepsUp();
    clock.advance((await isBusy()) ? busyStepMs : stepMs);
  }
  /** Time that runs ahead of the program would take its connections from it. */
  async function keepsUp(): Promise<void> {
    for (let waited = 0; waited < leasePatience && (await leaseLeft()) < leaseLeftMs; waited += 1) await turn();
    await turn();
  }
  /** For platforms on which time goes by, beside others. */
  async function tick(ms = 6_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await keepsUp();
      clock.advance(Math.min(stepMs, left));
    }
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  /** Of those that still hold: what has ended is not renewed before time goes on. */
  async function leaseLeft(): Promise<number> {
    const leases = store.read
      .selectFrom("connection_leases")
      .select((eb) => eb.fn.min("lease_until").as("until"))
      .where("lease_until", ">", clock.now());
    return ((await leases.executeTakeFirst())?.until ?? Number.POSITIVE_INFINITY) - clock.now();
  }
  async function meanwhile<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const end = (): void => void (ended = true);
    work.then(end, end);
    while (!ended) await goOn();
    return work;
  }
  /** What is due now has begun, or will at once: leases should not end under it. */
  async function isBusy(): Promise<boolean> {
    const due = store.read.selectFrom("outbox").select("id").where("dead_at", "is", null);
    return (await due.where("due_at", "<=", clock.now()).limit(1).execute()).length > 0;
  }
  async function pass(ms: number, eachMs: number): Promise<void> {
    for (let left = ms; left > 0; left -= eachMs) {
      clock.advance(Math.min(eachMs, left));
      await turn();
    }
  }
  async function isIdle(): Promise<boolean> {
    const rows = await store.read
      .selectFrom("outbox")
      .select("id")
      .where("dead_at", "is", null)
      .where("kind", "in", workKinds)
      .limit(1)
      .execute();
    return rows.length === 0;
  }

  const { url } = app;
  const now = (): number => clock.now();
  desk.reach({ url, now, accounts: { telegram: "", slack: idOf("slack") } });
  const accountOf = ({ channel, account }: Line): string => idOf(builtin.has(channel) ? channel : account);
  for (const line of lines) {
    const { channel, platform } = line;
    const accountId = accountOf(line);
    await platform.connect({
      url,
      workspaceId,
      accountId,
      key,
      webhookUrl: `${url}/channels/${channel}/${accountId}`,
      now,
      tick,
      async stored(externalId) {
        const events = store.read.selectFrom("inbound_events").select("id").where("account_id", "=", accountId);
        return (await events.where("external_id", "=", externalId).execute()).length > 0;
      },
    });
  }
  const close = async (): Promise<void> => {
    await Promise.all(lines.map(({ platform }) => platform.close()));
    await app.close();
    await desk.close();
  };
  const unconnected = (): readonly string[] =>
    lines.flatMap(({ name, platform }) => (platform.connected?.() === false ? [name] : []));
  if (!(await comes(() => unconnected().length === 0))) {
    const waiting = unconnected().join(", ");
    await close();
    throw new Error(`the program does not connect to ${waiting}`);
  }
  return {
    app,
    desk,
    lines,
    workspaceId,
    accountId: accountOf,
    key,
    comes,
    meanwhile,
    async settle() {
      if (!(await comes(isIdle))) throw new Error("there is still something to do");
    },
    pass,
    close,
  };
}
