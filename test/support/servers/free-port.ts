import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A port of 127.0.0.1 for a program that is started with its number. Below the ports that systems give out themselves,
 * so that no server of another test gets it before the program has opened it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFree(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
