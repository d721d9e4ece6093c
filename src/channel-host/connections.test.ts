import { once } from "node:events";
import { pino } from "pino";
import Type from "typebox";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AdapterModule, ChannelAdapter } from "#channels/contract.ts";
import { newId } from "#domain/ids.ts";
import { createAccountStatus } from "./account-status.ts";
import type { OpenAccount } from "./open-account.ts";
import type { Connections } from "./connections.ts";
import { openConnections } from "./connections.ts";
import type { OpenStore } from "#database/open.ts";
import { eachDatabase, openTestStore } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";
import type { HandMovedClock } from "#test/support/hand-moved-clock.ts";
import { createHandMovedClock } from "#test/support/hand-moved-clock.ts";
import { runStatement } from "#test/support/database/run-statement.ts";

const secondMs = 1_000;

/** A connection that a test breaks; otherwise it ends on request. */
interface Run {
  readonly signal: AbortSignal;
  fail(error: Error): void;
}

eachDatabase("connections", (open) => {
  let store: OpenStore;
  let url: string;
  let closeStore: () => Promise<void>;
  let clock: HandMovedClock;
  const processes: { readonly connections: Connections; readonly runs: Run[] }[] = [];

  beforeEach(async () => {
    ({ store, url, close: closeStore } = await openTestStore(open));
    clock = createHandMovedClock(Date.UTC(2031, 4, 14));
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map(({ connections }) => connections.close()));
    await closeStore();
  });

  async function addAccount(name: string): Promise<string> {
    const id = newId("acc", clock.now());
    const row = {
      id,
      workspace_id: "wt_1",
      channel: "discord",
      name,
      config: "{}",
      credentials: null,
      managed_by: "file",
      enabled: 1,
    } as const;
    await store.write((tx) =>
      tx
        .insertInto("accounts")
        .values({ ...row, created_at: clock.now() })
        .execute(),
    );
    return id;
  }

  function adapter(runs: Run[]): ChannelAdapter {
    return {
      capabilities: { textMax: null, typing: false, receipts: false, idempotentSend: false },
      inbound: {
        kind: "connection",
        run: (signal) =>
          new Promise((resolve, reject) => {
            runs.push({ signal, fail: reject });
            signal.addEventListener("abort", () => resolve());
          }),
      },
      render: () => [],
      send: async () => ({ externalId: null, state: "sent" }),
      close: async () => undefined,
    };
  }

  function start(processId: string, ownClock = clock): { readonly connections: Connections; readonly runs: Run[] } {
    const runs: Run[] = [];
    const opened = new Map<string, OpenAccount>();
    const connections = openConnections({
      store,
      clock: ownClock,
      log: pino({ level: "silent" }),
      processId,
      status: createAccountStatus({ store, clock }),
      channels: {
        hold: () => () => undefined,
        async open(id) {
          const account = { id, workspaceId: "wt_1", channel: "discord", name: `account ${id}`, config: {} };
          const { revision } = await store.read
            .selectFrom("accounts")
            .select("revision")
            .where("id", "=", id)
            .executeTakeFirstOrThrow();
          const cached = opened.get(id);
          if (cached?.revision === revision) return cached;
          const now = { account, adapter: adapter(runs), revision, paused: false, builtin: false };
          opened.set(id, now);
          return now;
        },
      },
    });
    const process = { connections, runs };
    processes.push(process);
    return process;
  }

  const live = (...all: readonly { readonly runs: readonly Run[] }[]): number =>
    all.flatMap(({ runs }) => runs).filter(({ signal }) => !signal.aborted).length;

  async function until(reached: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
    for (let turn = 0; turn < 3_000; turn += 1) {
      if (await reached()) return;
      if (stepMs > 0) clock.advance(stepMs);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error("waited in vain");
  }

  it("are run by one of several processes, and by another one after its end", async () => {
    await addAccount("one");
    const first = start("process 1");
    const second = start("process 2");
    // At rest, each process waits for its next look and for its next watch.
    const atRest = (): boolean => clock.waiting() === 4 && live(first, second) === 1;
    await until(() => atRest() && [...first.connections.states(), ...second.connections.states()].length === 2);
    for (let look = 0; look < 5; look += 1) {
      clock.advance(5 * secondMs);
      await until(atRest);
    }
    const lease = await store.read.selectFrom("connection_leases").select("lease_until").executeTakeFirstOrThrow();
    expect(lease.lease_until).toBeGreaterThanOrEqual(clock.now() + 10 * secondMs);
    const [runner, waiter] = live(first) === 1 ? [first, second] : [second, first];
    expect(runner.connections.states()).toMatchObject([{ state: "running", cause: null }]);
    expect(waiter.connections.states()).toMatchObject([{ state: "elsewhere" }]);
    await runner.connections.close();
    expect(live(runner)).toBe(0);
    await until(() => live(waiter) === 1, secondMs);
  });

  it("are taken over from a paused process, which ends its own connection first when it continues", async () => {
    await addAccount("one");
    const frozen = createHandMovedClock(clock.now());
    const first = start("process 1", frozen);
    await until(() => live(first) === 1);
    const second = start("process 2");
    clock.advance(14 * secondMs);
    await until(() => second.connections.states().length === 1);
    expect(live(second)).toBe(0);
    await until(() => live(second) === 1, secondMs);
    frozen.advance(60 * secondMs);
    expect(live(first)).toBe(0);
  });

  it("are restarted with growing delays when they break, and the cause is logged", async () => {
    await addAccount("one");
    const process = start("process 1");
    await until(() => process.runs.length === 1);
    let waited = 0;
    for (const secondsMin of [1, 2, 4, 8]) {
      process.runs.at(-1)?.fail(new Error("the gateway hung up"));
      await until(() => process.connections.states()[0]?.state === "broken");
      expect(process.connections.states()[0]?.cause).toBe("the gateway hung up");
      const runs = process.runs.length;
      const broken = clock.now();
      await until(() => process.runs.length > runs, 100);
      waited = clock.now() - broken;
      expect(waited).toBeGreaterThanOrEqual(secondsMin * secondMs);
    }
    expect(process.connections.states()).toMatchObject([{ state: "running", cause: null }]);
  });

  it("do not keep the program from ending while they wait for a retry", async () => {
    await addAccount("one");
    const process = start("first");
    await until(() => process.runs.length === 1, 100);
    process.runs[0]?.fail(new Error("no such host"));
    await until(() => process.connections.states()[0]?.state === "broken");
    await process.connections.close();
    expect(clock.waiting()).toBe(0);
  });

  it("are ended when the account is disabled, and started when one is added", async () => {
    const id = await addAccount("one");
    const process = start("process 1");
    await until(() => live(process) === 1);
    await store.write((tx) => tx.updateTable("accounts").set({ enabled: 0 }).where("id", "=", id).execute());
    await until(() => live(process) === 0, secondMs);
    await addAccount("two");
    await until(() => live(process) === 1, secondMs);
    expect(process.connections.states()).toHaveLength(1);
  });

  it("are replaced when the account was changed, while those of other accounts go on", async () => {
    const id = await addAccount("one");
    await addAccount("two");
    const process = start("process 1");
    await until(() => live(process) === 2);
    const before = [...process.runs];
    const change = (values: { readonly revision: number; readonly paused?: 1 | 0 }) =>
      store.write((tx) => tx.updateTable("accounts").set(values).where("id", "=", id).execute());
    await change({ revision: 2 });
    process.connections.look();
    await until(() => process.runs.length === 3 && live(process) === 2);
    expect(before.filter(({ signal }) => signal.aborted)).toHaveLength(1);
    await change({ revision: 3, paused: 1 });
    process.connections.look();
    await until(() => live(process) === 1);
    await change({ revision: 4, paused: 0 });
    process.connections.look();
    await until(() => live(process) === 2);
    expect(process.runs).toHaveLength(4);
  });

  it("are ended during a database outage before another process may start them, and restarted afterwards", async () => {
    await addAccount("one");
    const process = start("process 1");
    await until(() => live(process) === 1);
    const begun = clock.now();
    await runStatement(url, "alter table connection_leases rename to connection_leases_away");
    await until(() => live(process) === 0, secondMs);
    expect(clock.now() - begun).toBeLessThan(15 * secondMs);
    expect(process.connections.states()).toMatchObject([{ state: "broken" }]);
    await runStatement(url, "alter table connection_leases_away rename to connection_leases");
    await until(() => live(process) === 1, secondMs);
  });

  it("deliver a customer's messages from the start of the program to its end", async () => {
    let begun = false;
    let ended = false;
    const module: AdapterModule = {
      config: Type.Object({}),
      secrets: [],
      create: (_account, host) => ({
        ...adapter([]),
        inbound: {
          kind: "connection",
          async run(signal) {
            begun = true;
            const at = { thread: "channel", sender: { key: "ada" }, sentAt: host.clock.now() };
            await host.accept({ kind: "message", externalId: "1", text: "Hello from the gateway", ...at });
            if (!signal.aborted) await once(signal, "abort");
            ended = true;
          },
        },
        render: ({ markdown }) => [{ text: markdown, payload: null }],
      }),
    };
    const bench = await openBench(open, { account: { channel: "discord", load: async () => module, config: {} } });
    try {
      await bench.until("the connection is begun", () => {
        if (!begun) bench.clock.advance(secondMs);
        return begun;
      });
      await bench.until("the message is stored and answered", async () => {
        const rows = await bench.store.read.selectFrom("messages").select("content").orderBy("seq").execute();
        return rows.map(({ content }) => content).join() === "Hello from the gateway,You asked: Hello from the gateway";
      });
      const health = await fetch(`${await bench.app.listen()}/health/ready`);
      expect(await health.json()).toMatchObject({
        dependencies: expect.arrayContaining([
          { name: "channel test discord", state: "ready", cause: null },
        ]) as unknown,
      });
    } finally {
      await bench.close();
    }
    expect(ended).toBe(true);
  });
});
