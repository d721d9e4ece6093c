import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { createApp } from "#app/app.ts";
import { systemClock } from "#runtime/clock.ts";
import { loadConfig } from "#config/environment.ts";
import { openStore } from "#database/open.ts";
import type { DatabaseProxy } from "../support/database/proxy.ts";
import { openDatabaseProxy } from "../support/database/proxy.ts";
import { emptyDatabase, onMysql } from "../support/database/databases.ts";
import { parley, startGateway } from "../support/program/program.ts";
import { isFullTier } from "../support/tier.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-start-"));
  folders.push(folder);
  return folder;
}

onMysql("a start that loses its database", () => {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });

  async function newProxy(): Promise<DatabaseProxy> {
    const database = await emptyDatabase("mysql");
    const proxy = await openDatabaseProxy(database.url);
    ends.push(
      () => database.remove(),
      () => proxy.close(),
    );
    return proxy;
  }

  it.runIf(isFullTier)(
    "waits and continues if the database fails while the manual is read, and serves meanwhile",
    { timeout: 120_000 },
    async () => {
      const proxy = await newProxy();
      const gateway = await startGateway({ PARLEY_DATA_DIR: await newFolder(), DATABASE_URL: proxy.url });
      try {
        await expect.poll(gateway.printed).toContain("Getting ready");
        proxy.cut();
        await expect.poll(gateway.printed, { timeout: 60_000 }).toContain("start: database unavailable, retrying");
        expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
        expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
        proxy.restore();
        await expect.poll(gateway.printed, { timeout: 90_000 }).toContain("Parley is running.");
        expect(gateway.printed()).toContain("API key");
        proxy.cut();
        await gateway.stop();
      } finally {
        gateway.child.kill("SIGKILL");
      }
    },
  );

  it("exits with status 1 and the reason if the database fails before it listens", { timeout: 120_000 }, async () => {
    const proxy = await newProxy();
    proxy.cutBefore(60);
    const { status, stderr } = await parley(["start"], {
      PORT: "0",
      PARLEY_DATA_DIR: await newFolder(),
      DATABASE_URL: proxy.url,
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /error: the database's schema could not be brought up to date\n +because: .*(?:clos|lost|ECONN)/,
    );
  });

  it.runIf(isFullTier)(
    "fails completely, and leaves nothing open, at whichever statement the database fails",
    { timeout: 240_000 },
    async () => {
      const proxy = await newProxy();
      const store = await openStore(proxy.url);
      await store.migrate();
      await store.close();
      const failed: number[] = [];
      const start = async (): Promise<boolean> => {
        const config = loadConfig({
          PARLEY_DATA_DIR: await newFolder(),
          DATABASE_URL: proxy.url,
          PARLEY_SECRET: "a secret for tests, of more than thirty-two characters",
          PORT: "0",
        });
        try {
          const app = await createApp(config, { clock: systemClock, log: pino({ level: "silent" }) });
          await app.close().catch(() => undefined);
          return true;
        } catch {
          return false;
        }
      };
      const before = proxy.packets();
      expect(await start()).toBe(true);
      const all = proxy.packets() - before;
      for (let packet = 1; packet <= all; packet += Math.max(1, Math.floor(all / 20))) {
        proxy.cutBefore(packet);
        if (!(await start())) failed.push(packet);
        proxy.restore();
      }
      expect(failed.length).toBeGreaterThan(5);
      expect(await start()).toBe(true);
    },
  );
});

it("exits with status 1 if the port is taken", { timeout: 60_000 }, async () => {
  const taken = createServer();
  taken.listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const env = { PORT: String(port), HOST: "127.0.0.1", PARLEY_DATA_DIR: await newFolder() };
  const { status, stderr } = await parley(["start"], env);
  expect(status).toBe(1);
  expect(stderr).toContain(`Port ${port} is in use`);
  expect(stderr).toContain("set PORT");
  taken.close();
});
