import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { loadAdapter } from "#channels/load-adapter.ts";
import { newSqlite } from "#test/support/database/databases.ts";
import { openBench } from "#test/support/engine-bench.ts";

it("stops with open widgets, and requests their browsers to reconnect", async () => {
  const bench = await openBench(newSqlite, { account: { channel: "widget", load: loadAdapter, config: {} } });
  const url = await bench.app.listen();
  const socket = new WebSocket(
    `${url.replace("http:", "ws:")}/widget/ws?workspace=${bench.workspaceId}&channel=widget`,
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await bench.close();
  expect(await closed).toBe(1001);
});
