import { readConfigFile } from "#config/file.ts";
import { createKey } from "#admin/api-keys.ts";
import type { TestApp } from "../http/app.ts";
import { startApp } from "../http/app.ts";
import type { TestDatabase } from "../database/databases.ts";
import type { DeskWorld } from "../desk/world.ts";
import { openDeskWorld } from "../desk/world.ts";
import type { Line, LineUp } from "./line-up.ts";
import { builtin, fileWith, handbook, lineUp, openLimits, startLines } from "./line-up.ts";

/** One program with an account on every channel and a desk in Slack. The clock is moved by hand. */
export interface AllChannels {
  readonly app: TestApp;
  readonly desk: DeskWorld;
  readonly lines: readonly Line[];
  readonly workspaceId: string;
  accountId(line: Line): string;
  /** A key of the workspace's API. */
  readonly key: string;
  /** Moves the clock until `reached` holds; false when it does not within `timeoutMs`. */
  waitFor(reached: () => Promise<boolean> | boolean, timeoutMs?: number): Promise<boolean>;
  /** Moves the clock until `work` settles: the program may need time, for example to reconnect. */
  whileAdvancing<T>(work: Promise<T>): Promise<T>;
  /** Waits until no work for customers or agents is left. */
  settle(): Promise<void>;
  /** Moves the clock in steps and lets the network run between them. */
  pass(ms: number, stepMs: number): Promise<void>;
  close(): Promise<void>;
}

const patienceMs = 60_000;
const busyStepMs = 100;
const stepMs = 500;
/** The program renews leases of connections before less than this is left. */
const leaseLeftMs = 7_000;
/** How many times to check for the renewal of a lease, every 5 ms. */
const leaseChecksMax = 400;
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

  async function waitFor(reached: () => Promise<boolean> | boolean, timeoutMs = patienceMs): Promise<boolean> {
    for (const end = performance.now() + timeoutMs; !(await reached());) {
      if (performance.now() > end) return false;
      await advanceOnce();
    }
    return true;
  }
  let step: Promise<void> | undefined;
  /** All waiters share one step: separate steps would move the clock faster than the program works. */
  function advanceOnce(): Promise<void> {
    step ??= takeStep().finally(() => (step = undefined));
    return step;
  }
  async function takeStep(): Promise<void> {
    await leasesRenewed();
    clock.advance((await isBusy()) ? busyStepMs : stepMs);
  }
  /** Waits for renewed leases. A clock that outran the program would end its connections. */
  async function leasesRenewed(): Promise<void> {
    for (let waited = 0; waited < leaseChecksMax && (await leaseLeft()) < leaseLeftMs; waited += 1) await turn();
    await turn();
  }
  /** Passed to the fake platforms, which move the clock while other waiters do the same. */
  async function tick(ms = 6_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await leasesRenewed();
      clock.advance(Math.min(stepMs, left));
    }
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5));
  /** Counts valid leases only: an expired lease is renewed only after the clock has moved. */
  async function leaseLeft(): Promise<number> {
    const leases = store.read
      .selectFrom("connection_leases")
      .select((eb) => eb.fn.min("lease_until").as("until"))
      .where("lease_until", ">", clock.now());
    return ((await leases.executeTakeFirst())?.until ?? Number.POSITIVE_INFINITY) - clock.now();
  }
  async function whileAdvancing<T>(work: Promise<T>): Promise<T> {
    let ended = false;
    const end = (): void => void (ended = true);
    work.then(end, end);
    while (!ended) await advanceOnce();
    return work;
  }
  /** Whether work is due. The clock then moves in small steps, so that the work's leases do not expire. */
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
  if (!(await waitFor(() => unconnected().length === 0))) {
    const waiting = unconnected().join(", ");
    await close();
    throw new Error(`timed out waiting for connections to ${waiting}`);
  }
  return {
    app,
    desk,
    lines,
    workspaceId,
    accountId: accountOf,
    key,
    waitFor,
    whileAdvancing,
    async settle() {
      if (!(await waitFor(isIdle))) throw new Error("timed out waiting for idle work");
    },
    pass,
    close,
  };
}
