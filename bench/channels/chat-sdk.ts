// A bot on the Chat SDK that answers every message with a fixed text. Its state is in Redis, as its guide recommends for
// production, with the strategy that loses no message:
//   SLACK_API=… REDIS_URL=… node bench/channels/chat-sdk.ts PORT
import { createServer } from "node:http";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createRedisState } from "@chat-adapter/state-redis";
import type { Adapter } from "chat";
import { Chat } from "chat";
import { fixedText, slackSecrets } from "./platform.ts";

const [port = "0"] = process.argv.slice(2);
const slack = createSlackAdapter({
  botToken: slackSecrets.botToken,
  signingSecret: slackSecrets.signingSecret,
  apiUrl: `${process.env["SLACK_API"]}/`,
});
const bot = new Chat({
  userName: "support",
  // The adapter's type is stricter about undefined than the option's.
  adapters: { slack: slack as Adapter },
  state: createRedisState({ url: process.env["REDIS_URL"] ?? "" }),
  concurrency: "queue",
  logger: "warn",
});
bot.onDirectMessage(async (thread) => {
  await thread.post(fixedText);
});
await bot.initialize();
const take = bot.webhooks["slack"];
if (take === undefined) throw new Error("the Chat SDK has no webhook for Slack");

const complain = (error: unknown): void => {
  process.stderr.write(`${String(error)}\n`);
};
createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers))
      if (typeof value === "string") headers.set(name, value);
    const given = new Request(`http://127.0.0.1:${port}${request.url ?? "/"}`, {
      method: "POST",
      headers,
      body: Buffer.concat(chunks),
    });
    take(given, { waitUntil: (task: Promise<unknown>) => void task.catch(complain) })
      .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
      .catch((error: unknown) => {
        complain(error);
        response.writeHead(500).end();
      });
  });
}).listen(Number(port), "127.0.0.1");
